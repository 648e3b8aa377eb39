// Scrolls to the element once something new is in it, where it lies beyond the window:
// on a phone a preview stands above the list that it is chosen from.
export default function showWhenFilled(element) {
  element.addEventListener("htmx:after:swap", () => {
    const { top, bottom } = element.getBoundingClientRect()
    if (bottom < 0 || top > window.innerHeight) element.scrollIntoView({ block: "start" })
  })
}
