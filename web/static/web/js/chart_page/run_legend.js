// The list of compared runs as the legend of all charts: the run under the pointer or the
// focus is lit in each of them, and the run under the pointer in a chart is marked here.
// Typing narrows it; arrow keys go from run to run; a dot opens a menu of colours. The list
// itself never moves the page.
import { ColourMenu } from "../table/colour_menu.js"
import { gettext } from "../core/texts.js"

// Fewer are passed by Tab.
const MANY = 12
// The slot that was chosen by keys: its dot has the focus again when the page comes.
const CHOSEN = "colour-chosen"
const MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }

export default function runLegend(element) {
  const list = element.querySelector("[data-part=list]")
  const runs = [...list.children]
  const isMany = runs.length > MANY
  let pointed = null

  const light = (run) => {
    const slot = run && !run.matches(".compare-run--hidden") ? Number(run.dataset.slot) : null
    document.dispatchEvent(new CustomEvent("run-lit", { detail: slot }))
  }
  const runAt = ({ target }) => target.closest?.("[data-slot]") ?? null
  // The pointer goes before the focus, which comes back when it leaves.
  const current = () => pointed ?? list.querySelector("[data-slot]:focus-within")

  list.addEventListener("pointerover", (event) => light((pointed = runAt(event)) ?? current()))
  list.addEventListener("pointerleave", () => {
    pointed = null
    light(current())
  })
  list.addEventListener("focusin", (event) => {
    const run = runAt(event)
    if (isMany && run) rove(run)
    // A press of the pointer gives focus, too, which shall not outlast it.
    if (event.target.matches(":focus-visible")) light(pointed ?? run)
  })
  list.addEventListener("focusout", ({ relatedTarget }) => {
    if (!list.contains(relatedTarget)) light(pointed)
  })
  list.addEventListener("keydown", (event) => {
    const shown = runs.filter((run) => !run.hidden)
    const at = shown.indexOf(runAt(event))
    const ends = { Home: 0, End: shown.length - 1 }
    const to = event.key in ends ? ends[event.key] : at + (MOVES[event.key] ?? NaN)
    if (at < 0 || Number.isNaN(to) || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    shown[to]?.querySelector(".compare-run__name").focus()
  })
  document.addEventListener("run-pointed", ({ detail }) => mark(detail))
  if (isMany) rove(runs[0])
  colours(element, runs)
  narrowing(element, runs, () => {
    if (!isMany) return
    const first = runs.find((run) => !run.hidden)
    if (first) rove(first)
  })

  // Of a hundred runs, Tab passes one.
  function rove(here) {
    for (const run of runs) {
      for (const control of run.querySelectorAll("a, button")) control.tabIndex = run === here ? 0 : -1
    }
  }

  function mark(slot) {
    for (const run of runs) run.classList.toggle("compare-run--lit", slot !== null && run.dataset.slot === String(slot))
    const run = runs.find((each) => each.matches(".compare-run--lit"))
    if (!run || list.scrollHeight <= list.clientHeight) return
    const { top, bottom } = list.getBoundingClientRect()
    const place = run.getBoundingClientRect()
    if (place.top < top) list.scrollTop -= top - place.top
    else if (place.bottom > bottom) list.scrollTop += place.bottom - bottom
  }
}

// What is chosen goes with the form, which asks for the comparison anew.
function colours(element, runs) {
  const menu = element.querySelector("[data-part=colours]")
  if (!menu) return
  const dotOf = (run) => run?.querySelector("[data-part=colour]")
  const runOf = (slot) => runs.find((run) => run.dataset.slot === String(slot))
  let dot = null
  const choices = new ColourMenu(menu, {
    nameOf: (slot) => runOf(slot)?.querySelector(".compare-run__name").textContent.trim() ?? "",
    onChoose: (_, to, { isByKey }) => isByKey && sessionStorage.setItem(CHOSEN, to),
  })
  for (const run of runs) {
    dotOf(run).addEventListener("click", () => {
      const slot = Number(run.dataset.slot)
      choices.items.forEach((item, to) => (item.value = `colour.${slot}.${to}`))
      choices.open(slot, (dot = dotOf(run)))
    })
  }
  menu.addEventListener("toggle", ({ newState }) => dot.setAttribute("aria-expanded", newState === "open"))

  const chosen = sessionStorage.getItem(CHOSEN)
  sessionStorage.removeItem(CHOSEN)
  if (chosen !== null) dotOf(runOf(chosen))?.focus({ preventScroll: true })
}

function narrowing(element, runs, onChange) {
  const input = element.querySelector("[data-part=filter]")
  if (!input) return
  const count = element.querySelector("[data-part=count]")
  const names = runs.map((run) => run.querySelector(".compare-run__name").textContent.toLowerCase())
  const narrow = () => {
    const wanted = input.value.trim().toLowerCase()
    runs.forEach((run, index) => (run.hidden = !names[index].includes(wanted)))
    const shown = runs.filter((run) => !run.hidden).length
    count.textContent = wanted ? gettext("%(count)s of %(all)s", { count: shown, all: runs.length }) : ""
    onChange()
  }
  input.addEventListener("input", narrow)
  // A page that is gone back to keeps what was typed.
  if (input.value) narrow()
}
