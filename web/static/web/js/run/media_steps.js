// Moves all rows of media to the step of one slider, and says it in the page's address. Of
// rows that have been loaded, those that are seen ask for themselves again at once, the others
// once they are. Of running runs, those that are seen look for news every few seconds.
//
// data-ends  on a row: the last step that any of its runs has there
//
// The field beside the slider may hold any step, or none: that is the last one, as is the end
// of the slider.
import { lead } from "../page/zoom_links.js"
import { keepInAddress } from "../core/page_address.js"

const REST_MS = 150
const NEAR = "200px"

export default function mediaSteps(element) {
  const slider = element.querySelector("[data-part=slider]")
  const field = element.querySelector("#media-at")
  // By the row, the step that it has asked for; those before this module came, the page's.
  const asked = new WeakMap()
  const first = field.defaultValue
  const seen = new Set()
  const loading = new Set()
  let resting = null

  const near = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      isIntersecting ? seen.add(target) : seen.delete(target)
    }
    catchUp()
  }, { rootMargin: NEAR })
  for (const row of element.querySelectorAll(".media__row")) near.observe(row)

  const isLoading = (row) => loading.has(row) || row.hasAttribute("aria-busy")

  function catchUp() {
    for (const row of seen) {
      if (!isLoading(row) && (asked.get(row) ?? first) !== field.value) window.htmx.trigger(row, "media-step")
    }
  }

  function move() {
    clearTimeout(resting)
    resting = setTimeout(() => {
      keepInAddress({ at: field.value })
      lead({ at: field.value })
      catchUp()
    }, REST_MS)
  }

  // To steps that came since the page was made, or since the last of them did.
  function lengthen() {
    if (!slider) return
    const ends = [...element.querySelectorAll("[data-ends]")].map((row) => Number(row.dataset.ends)).filter(Number.isFinite)
    const { min, max, step } = slider
    const last = Number(min) + Math.ceil((Math.max(...ends) - min) / step) * step
    if (!(last > max)) return
    slider.max = last
    slider.value = field.value === "" ? last : field.value
  }

  element.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    asked.set(ctx.sourceElement, field.value)
    loading.add(ctx.sourceElement)
  })
  element.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    loading.delete(ctx.sourceElement)
    catchUp()
  })
  element.addEventListener("every", (event) => {
    if (!seen.has(event.target) || isLoading(event.target)) event.stopPropagation()
  }, { capture: true })
  // One that was on its way while the slider moved shows another step.
  document.addEventListener("htmx:after:swap", () => {
    lengthen()
    catchUp()
  })
  slider?.addEventListener("input", () => {
    field.value = slider.valueAsNumber >= Number(slider.max) ? "" : slider.value
    move()
  })
  if (slider) field.addEventListener("input", () => {
    slider.value = field.value === "" ? slider.max : field.value
    move()
  })
}
