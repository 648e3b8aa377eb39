// The list of compared runs as a legend: hovering or focusing a run highlights it in all charts,
// and hovering a line marks the run here. Typing filters, arrow keys move, and the dot opens the
// menu of a run. The list never scrolls the page.
import { ColourMenu } from "../table/colour_menu.js"
import { gettext } from "../core/texts.js"

// Shorter lists are fully tabbable.
const MANY = 12
// The slot changed by keyboard; its dot is focused after the reload.
const CHOSEN = "colour-chosen"
const MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }

export default function runLegend(element) {
  const list = element.querySelector("[data-part=list]")
  const runs = [...list.children]
  const isMany = runs.length > MANY
  let pointed = null

  const highlight = (run) => {
    const slot = run && !run.matches(".compare-run--hidden") ? Number(run.dataset.slot) : null
    document.dispatchEvent(new CustomEvent("run-lit", { detail: slot }))
  }
  const runAt = ({ target }) => target.closest?.("[data-slot]") ?? null
  // Hover takes precedence over focus.
  const current = () => pointed ?? list.querySelector("[data-slot]:focus-within")

  list.addEventListener("pointerover", (event) => highlight((pointed = runAt(event)) ?? current()))
  list.addEventListener("pointerleave", () => {
    pointed = null
    highlight(current())
  })
  list.addEventListener("focusin", (event) => {
    const run = runAt(event)
    if (isMany && run) rove(run)
    // Ignores focus from a click, which would outlast the hover.
    if (event.target.matches(":focus-visible")) highlight(pointed ?? run)
  })
  list.addEventListener("focusout", ({ relatedTarget }) => {
    if (!list.contains(relatedTarget)) highlight(pointed)
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
  options(element, runs)
  narrowing(element, runs, () => {
    if (!isMany) return
    const first = runs.find((run) => !run.hidden)
    if (first) rove(first)
  })

  // Roving tabindex: a long list is one tab stop.
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

// The choice is submitted with the form.
function options(element, runs) {
  const menu = element.querySelector("[data-part=run-options]")
  if (!menu) return
  const dotOf = (run) => run?.querySelector("[data-part=run-menu]")
  const runOf = (slot) => runs.find((run) => run.dataset.slot === String(slot))
  let dot = null
  const choices = new ColourMenu(menu, {
    nameOf: (slot) => runOf(slot)?.querySelector(".compare-run__name").textContent.trim() ?? "",
    onChoose: (_, to, { isByKey }) => isByKey && sessionStorage.setItem(CHOSEN, to),
  })
  for (const run of runs) {
    dotOf(run).addEventListener("click", () => {
      const slot = Number(run.dataset.slot)
      for (const item of menu.querySelectorAll("[data-change]")) {
        item.value = `${item.dataset.change}.${slot}`
        item.hidden = item.dataset.change === "pin" && run.matches(".compare-run--reference")
      }
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
    const searched = input.value.trim().toLowerCase()
    runs.forEach((run, index) => (run.hidden = !names[index].includes(searched)))
    const shown = runs.filter((run) => !run.hidden).length
    count.textContent = searched ? gettext("%(count)s of %(all)s", { count: shown, all: runs.length }) : ""
    onChange()
  }
  input.addEventListener("input", narrow)
  // Browsers restore the text on back navigation.
  if (input.value) narrow()
}
