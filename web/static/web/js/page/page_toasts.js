// Announces toasts rendered by the server. Screen readers announce only additions to a live region,
// so they are removed and added again.
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
