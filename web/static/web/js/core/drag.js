// Tracks a pressed pointer until it is released. `end` gets false if the browser canceled it, for
// example because the touch became a scroll.
const ENDS = ["pointerup", "pointercancel"]

export function trackPointer({ pointerId }, { move, end }) {
  const moved = (event) => event.pointerId === pointerId && move(event)
  const ended = (event) => {
    if (event.pointerId !== pointerId) return
    document.removeEventListener("pointermove", moved)
    for (const name of ENDS) document.removeEventListener(name, ended)
    end(event.type === "pointerup", event)
  }
  // On the document, because an element moved in the DOM loses pointer capture.
  document.addEventListener("pointermove", moved)
  for (const name of ENDS) document.addEventListener(name, ended)
}
