// Scrolls to the element after a swap if it is outside the viewport: on phones a preview is above
// its list.
export default function showWhenFilled(element) {
  element.addEventListener("htmx:after:swap", () => {
    const { top, bottom } = element.getBoundingClientRect()
    if (bottom < 0 || top > window.innerHeight) element.scrollIntoView({ block: "start" })
  })
}
