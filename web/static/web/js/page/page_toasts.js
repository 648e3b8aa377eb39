// Announces toasts rendered by the server. Screen readers announce only additions to a live region,
// so they are removed and added again.
import { dismissLater } from "../core/toasts.js"

const ANNOUNCE_DELAY_MS = 300

export default function toasts(region) {
  region.addEventListener("click", (event) => {
    if (event.target.closest("[data-part=close]")) event.target.closest(".toast").remove()
  })
  region.addEventListener("keydown", (event) => {
    if (event.key === "Escape") event.target.closest(".toast")?.remove()
  })

  const rendered = [...region.children]
  if (!rendered.length) return
  setTimeout(() => {
    region.replaceChildren(...rendered)
    for (const element of rendered) if (!element.querySelector("form")) dismissLater(element)
  }, ANNOUNCE_DELAY_MS)
}
