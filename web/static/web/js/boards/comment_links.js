// Opens what an address leads to, where it is folded: a comment, or all beside a passage.
// Whoever unfolds a form writes in it; who pressed what is gone now goes on beside it, and
// can have a comment back that they deleted.
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
  // A link to where one is already changes no address.
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
