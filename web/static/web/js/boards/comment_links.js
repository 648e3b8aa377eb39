// Expands the target of a link: a comment, or all comments on a passage. Expanding a form focuses
// it; when a focused button disappears, focus moves nearby; deleted comments can be restored.
import { toast } from "../core/toasts.js"

export default function comments(report) {
  let place = []
  const reveal = () => {
    const place = document.getElementById(location.hash.slice(1))
    if (!place || !report.contains(place)) return
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
    place.scrollIntoView({ block: "nearest" })
  }
  addEventListener("hashchange", reveal)
  // Clicking a link to the current hash fires no event.
  report.addEventListener("click", ({ target }) => {
    if (target.closest("a[href^='#']")) setTimeout(reveal)
  })
  report.addEventListener("toggle", ({ target }) => {
    if (target.open && target.matches("[data-part=fold]")) target.querySelector("textarea, button")?.focus()
  }, { capture: true })
  report.addEventListener("submit", ({ target }) => (place = [target.closest(".thread")?.id, target.closest("[id^=remarks-]")?.id]))
  document.addEventListener("htmx:after:swap", () => {
    if (document.activeElement !== document.body) return
    const [thread, region] = place.map((id) => document.getElementById(id))
    ;(thread?.querySelector("summary, a") ?? region?.querySelector("summary, textarea"))?.focus()
    place = []
  })
  document.addEventListener("comment-deleted", ({ detail: { text, undo, region } }) => {
    const place = { source: report, target: `#remarks-${region}`, swap: "outerMorph" }
    toast(text, { onUndo: () => window.htmx.ajax("POST", undo, place) })
  })
  if (location.hash) reveal()
}
