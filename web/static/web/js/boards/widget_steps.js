// Moves a widget with media through its steps.
//
// data-steps  the steps of the slider, ascending; new ones arrive with each response
import { zoomIn } from "../run/media_zoom.js"

const REST_MS = 120

export default function widgetSteps(element) {
  const part = (name) => element.querySelector(`[data-part=${name}]`)
  const steps = () => JSON.parse(element.dataset.steps)
  let resting = null

  function moveTo(place) {
    const all = steps()
    const last = all.length - 1
    const next = Math.min(Math.max(place, 0), last)
    part("slider").value = next
    // Without a step, the widget follows its running runs.
    part("at").value = next === last ? "" : String(all[next])
    showStep()
    clearTimeout(resting)
    resting = setTimeout(() => window.htmx.trigger(element, "media-step"), REST_MS)
  }

  function showStep() {
    const slider = part("slider")
    if (slider) part("shown").value = steps()[slider.valueAsNumber] ?? ""
  }

  element.addEventListener("input", ({ target }) => {
    if (target.dataset.part === "slider") moveTo(target.valueAsNumber)
  })
  element.addEventListener("click", ({ target }) => {
    const name = target.closest("button[data-part]")?.dataset.part
    if (name === "back") moveTo(part("slider").valueAsNumber - 1)
    else if (name === "forward") moveTo(part("slider").valueAsNumber + 1)
  })
  document.addEventListener("htmx:after:swap", showStep)
  zoomIn(element, part("zoomed"))
  showStep()
}
