// Says the toasts that came with the page. Screen readers tell only what is added to a
// live region, so what was in it from the start is taken out and put back.
import { leaveSoon } from "../core/toasts.js"

const SAID_AFTER_MS = 300

export default function toasts(region) {
  region.addEventListener("click", (event) => {
    if (event.target.closest("[data-part=close]")) event.target.closest(".toast").remove()
  })
  region.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.target.closest(".toast")?.remove()
  })

  const told = [...region.children]
  if (!told.length) return
  setTimeout(() => {
    region.replaceChildren(...told)
    for (const element of told) if (!element.querySelector("form")) leaveSoon(element)
  }, SAID_AFTER_MS)
}
