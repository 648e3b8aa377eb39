// Moves the media of a run through its steps: one slider for all panels, and one in each. Panels
// load when they come into view. The shared step is in the URL; none stands for the last step.
//
// data-steps  on the container and on a loaded panel: the steps of its slider, ascending
// data-asked  on a panel: the step that it was loaded for, "" for the last
import { setUrlParameters } from "../core/page_address.js"
import { zoomIn } from "./media_zoom.js"

const REST_MS = 120
const NEAR = "200px"

export default function mediaPanels(element) {
  const part = (name) => element.querySelector(`[data-part=${name}]`)
  const slider = part("slider")
  const field = part("step")
  // Steps of panels that were moved on their own, by id.
  const own = new Map()
  // Steps that were requested, by id: a panel whose request failed does not repeat it.
  const requested = new Map()
  const seen = new Set()
  let steps = JSON.parse(element.dataset.steps)
  let resting = null

  const panels = () => [...element.querySelectorAll("[data-part=panel]")]
  const stepOf = (panel) => own.get(panel.id) ?? field.value

  const near = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      isIntersecting ? seen.add(target.id) : seen.delete(target.id)
    }
    catchUp()
  }, { rootMargin: NEAR })
  for (const panel of panels()) near.observe(panel)

  function catchUp() {
    for (const panel of panels()) {
      if (!seen.has(panel.id) || panel.hasAttribute("aria-busy")) continue
      if ((requested.get(panel.id) ?? panel.dataset.asked) === stepOf(panel)) continue
      requested.set(panel.id, stepOf(panel))
      panel.querySelector("input[name=step]").value = stepOf(panel)
      window.htmx.trigger(panel, "media-step")
    }
  }

  function catchUpSoon() {
    clearTimeout(resting)
    resting = setTimeout(catchUp, REST_MS)
  }

  function showStep() {
    slider.value = field.value === "" ? slider.max : placeOf(steps, Number(field.value))
  }

  function moveAll(step) {
    own.clear()
    field.value = step
    setUrlParameters({ step })
    showStep()
    catchUpSoon()
  }

  function moveTo(place) {
    const last = steps.length - 1
    moveAll(place >= last ? "" : String(steps[Math.max(0, place)]))
  }

  // Running runs get new steps.
  function lengthen() {
    const found = panels().flatMap((panel) => JSON.parse(panel.dataset.steps ?? "[]"))
    const all = [...new Set([...steps, ...found])].sort((one, other) => one - other)
    if (all.length === steps.length) return
    steps = all
    slider.max = steps.length - 1
    part("steps").hidden = steps.length < 2
    showStep()
  }

  slider.addEventListener("input", () => moveTo(slider.valueAsNumber))
  field.addEventListener("input", () => moveAll(field.value))
  part("back").addEventListener("click", () => moveTo(slider.valueAsNumber - 1))
  part("forward").addEventListener("click", () => moveTo(slider.valueAsNumber + 1))
  element.addEventListener("input", ({ target }) => {
    if (target.dataset.part !== "own-slider") return
    const panel = target.closest("[data-part=panel]")
    own.set(panel.id, String(JSON.parse(panel.dataset.steps)[target.valueAsNumber]))
    catchUpSoon()
  })
  element.addEventListener("htmx:finally:request", () => {
    lengthen()
    catchUpSoon()
  })
  document.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return
    if (event.target.closest("input, select, textarea, audio, video, dialog, [tabindex='0']")) return
    if (!element.isConnected || document.querySelector("dialog[open]") || steps.length < 2) return
    event.preventDefault()
    moveTo(slider.valueAsNumber + (event.key === "ArrowLeft" ? -1 : 1))
  })
  zoomIn(element, part("zoomed"))
  showStep()
}

function placeOf(steps, step) {
  return Math.max(0, steps.filter((each) => each <= step).length - 1)
}
