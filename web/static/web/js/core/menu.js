// Moves focus in a menu: arrow keys wrap around, Home and End jump. Returns whether the key was
// handled.
export function moveFocus(event, items) {
  const now = items.indexOf(document.activeElement)
  const count = items.length
  const to = {
    ArrowDown: (now + 1) % count,
    ArrowUp: (now - 1 + count) % count,
    Home: 0,
    End: count - 1,
  }[event.key]
  if (to === undefined) return false
  event.preventDefault()
  items[to].focus()
  return true
}
