// Walks through a menu by keyboard: from item to item and round, Home and End to its ends.
// Says whether the key was one of these.
export function walk(event, items) {
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
