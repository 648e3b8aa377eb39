// The colours that a run of a comparison can be given, as a menu below its dot. Each says
// which run has it, and that one gets this run's colour.
import { placeBeside } from "../charts/floating.js"
import { walk } from "./menu.js"

// The slot that was chosen by keys: its dot has the focus again when the page comes.
const CHOSEN = "colour-chosen"

// `runs` are the elements of the list in `element`, each with its slot.
export function colourMenu(element, runs) {
  const menu = element.querySelector("[data-part=colours]")
  if (!menu) return
  const items = [...menu.querySelectorAll("button")]
  const dotOf = (run) => run?.querySelector("[data-part=colour]")
  const runOf = (slot) => runs.find((run) => run.dataset.slot === String(slot))
  let dot = null

  function open(run) {
    dot = dotOf(run)
    items.forEach((item, slot) => {
      const holder = runOf(slot)
      item.value = `colour.${run.dataset.slot}.${slot}`
      item.setAttribute("aria-checked", holder === run)
      item.querySelector("[data-part=of]").textContent = holder && holder !== run ? nameOf(holder) : ""
    })
    menu.showPopover()
    placeBeside(menu, dot, { isToTheRight: true })
    const checked = items.find((item) => item.ariaChecked === "true")
    ;(checked ?? items[0]).focus()
  }

  for (const run of runs) dotOf(run).addEventListener("click", () => open(run))
  menu.addEventListener("toggle", ({ newState }) => dot.setAttribute("aria-expanded", newState === "open"))
  menu.addEventListener("keydown", (event) => {
    // The focus is back at the dot before it goes on from there.
    if (!walk(event, items) && event.key === "Tab") menu.hidePopover()
  })
  menu.addEventListener("click", (event) => {
    const item = event.target.closest("button")
    // Of keys, a click has no count.
    if (item && event.detail === 0) sessionStorage.setItem(CHOSEN, items.indexOf(item))
  })

  const chosen = sessionStorage.getItem(CHOSEN)
  sessionStorage.removeItem(CHOSEN)
  if (chosen !== null) dotOf(runOf(chosen))?.focus({ preventScroll: true })
}

const nameOf = (run) => run.querySelector(".compare-run__name").textContent.trim()
