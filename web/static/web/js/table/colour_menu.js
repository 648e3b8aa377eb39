// The colours that a run can be given, as a menu below its dot. Each says which run has it,
// and that one gets this run's colour.
import { placeBeside } from "../core/placement.js"
import { walk } from "../core/menu.js"

export class ColourMenu {
  #slot = -1

  // `nameOf` says which run has a slot, or "".
  constructor(menu, { nameOf, onChoose }) {
    this.menu = menu
    this.items = [...menu.querySelectorAll("button")]
    this.nameOf = nameOf
    menu.addEventListener("keydown", (event) => {
      // The focus is back where it was before it goes on from there.
      if (!walk(event, this.items) && event.key === "Tab") menu.hidePopover()
    })
    menu.addEventListener("click", (event) => {
      const item = event.target.closest("button")
      // Of keys, a click has no count.
      if (item) onChoose(this.#slot, this.items.indexOf(item), { isByKey: event.detail === 0 })
    })
  }

  // Of the run that has this slot.
  open(slot, beside) {
    this.#slot = slot
    this.items.forEach((item, place) => {
      item.setAttribute("aria-checked", String(place === slot))
      item.querySelector("[data-part=of]").textContent = place === slot ? "" : this.nameOf(place)
    })
    this.menu.showPopover()
    placeBeside(this.menu, beside, { isToTheRight: true })
    ;(this.items[slot] ?? this.items[0]).focus()
  }
}
