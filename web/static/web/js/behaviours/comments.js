// Opens what an address leads to, where it is folded: a comment, or all beside a passage.
// Whoever unfolds a form writes in it.
export default function comments(report) {
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
  if (location.hash) reveal()
}
