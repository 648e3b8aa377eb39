// Color menu of a run, which may have other items before the colors. Each color shows the run that uses it; choosing it swaps the two.
import { placeBeside } from "../core/placement.js"
import { moveFocus } from "../core/menu.js"

export class ColourMenu {
  #slot = -1

  // `nameOf` returns the name of the run with a color slot, or "".
  constructor(menu, { nameOf, onChoose }) {
    this.menu = menu
    this.items = [...menu.querySelectorAll('[role="menuitemradio"]')]
    this.nameOf = nameOf
    menu.addEventListener("keydown", (event) => {
      // Restores focus before Tab moves it.
      if (!moveFocus(event, this.#shown) && event.key === "Tab") menu.hidePopover()
    })
    menu.addEventListener("click", (event) => {
      const item = event.target.closest('[role="menuitemradio"]')
      // `detail` is 0 for clicks from the keyboard.
      if (item) onChoose(this.#slot, this.items.indexOf(item), { isByKey: event.detail === 0 })
    })
  }

  open(slot, beside) {
    this.#slot = slot
    this.items.forEach((item, place) => {
      item.setAttribute("aria-checked", String(place === slot))
      item.querySelector("[data-part=of]").textContent = place === slot ? "" : this.nameOf(place)
    })
    this.menu.showPopover()
    placeBeside(this.menu, beside, { isToTheRight: true })
    const [first] = this.#shown
    ;(first === this.items[0] ? (this.items[slot] ?? first) : first).focus()
  }

  get #shown() {
    return [...this.menu.querySelectorAll("button:not([hidden])")]
  }
}
