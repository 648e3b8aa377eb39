// Moves all media rows to the step of a slider and stores it in the URL. Visible rows reload at
// once, others when they come into view; visible rows of live runs are polled.
//
// data-ends  on a row: the last step of its runs
//
// An empty step field, or the end of the slider, stands for the last step.
import { updateLinks } from "../page/zoom_links.js"
import { setUrlParameters } from "../core/page_address.js"
import { zoomIn } from "./media_zoom.js"

const REST_MS = 150
const NEAR = "200px"

export default function mediaSteps(element) {
  const slider = element.querySelector("[data-part=slider]")
  const field = element.querySelector("#media-at")
  // Requested steps by row; rows loaded earlier have the step of the page.
  const requested = new WeakMap()
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
      if (!isLoading(row) && (requested.get(row) ?? first) !== field.value) window.htmx.trigger(row, "media-step")
    }
  }

  function move() {
    clearTimeout(resting)
    resting = setTimeout(() => {
      setUrlParameters({ at: field.value })
      updateLinks({ at: field.value })
      catchUp()
    }, REST_MS)
  }

  // Extends the slider to steps that arrived later.
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
    requested.set(ctx.sourceElement, field.value)
    loading.add(ctx.sourceElement)
  })
  element.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    loading.delete(ctx.sourceElement)
    catchUp()
  })
  element.addEventListener("every", (event) => {
    if (!seen.has(event.target) || isLoading(event.target)) event.stopPropagation()
  }, { capture: true })
  // Rows requested before the slider moved show another step.
  document.addEventListener("htmx:after:swap", () => {
    lengthen()
    catchUp()
  })
  const zoomed = element.querySelector("[data-part=zoomed]")
  if (zoomed) zoomIn(element, zoomed)
  slider?.addEventListener("input", () => {
    field.value = slider.valueAsNumber >= Number(slider.max) ? "" : slider.value
    move()
  })
  if (slider) field.addEventListener("input", () => {
    slider.value = field.value === "" ? slider.max : field.value
    move()
  })
}
