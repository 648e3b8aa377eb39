// Follows a pointer that was pressed until it is let go. `end` hears whether it was: where
// a touch turns into scrolling, the browser takes the pointer away.
const ENDS = ["pointerup", "pointercancel"]

export function follow({ pointerId }, { move, end }) {
  const moved = (event) => event.pointerId === pointerId && move(event)
  const ended = (event) => {
    if (event.pointerId !== pointerId) return
    document.removeEventListener("pointermove", moved)
    for (const name of ENDS) document.removeEventListener(name, ended)
    end(event.type === "pointerup", event)
  }
  // On the document: an element that is moved within it loses the pointer.
  document.addEventListener("pointermove", moved)
  for (const name of ENDS) document.addEventListener(name, ended)
}
