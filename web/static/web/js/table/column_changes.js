// Returns the columns and the number of pinned columns after a change.
export function changed({ keys, pinned }, action, key, value) {
  const place = keys.indexOf(key)
  const others = keys.filter((other) => other !== key)
  const isPinned = place >= 0 && place < pinned
  switch (action) {
    case "add":
      return { keys: [...others, key], pinned: isPinned ? pinned - 1 : pinned }
    case "remove":
      return { keys: others, pinned: isPinned ? pinned - 1 : pinned }
    case "pin": {
      const newPinned = isPinned ? pinned - 1 : pinned
      return { keys: inserted(others, key, newPinned), pinned: isPinned ? newPinned : pinned + 1 }
    }
    case "step":
      return { keys: inserted(others, key, Math.max(0, place + value)), pinned }
    case "before":
      return moved({ others, pinned }, key, value, isPinned)
  }
  return { keys, pinned }
}

// The drop position decides whether the column is pinned; null is the end.
function moved({ others, pinned }, key, before, wasPinned) {
  const found = others.indexOf(before)
  if (before === key) return { keys: inserted(others, key, others.length), pinned }
  const place = before === null || found < 0 ? others.length : found
  const newPinned = wasPinned ? pinned - 1 : pinned
  return { keys: inserted(others, key, place), pinned: place < newPinned || (wasPinned && place <= newPinned) ? newPinned + 1 : newPinned }
}

function inserted(keys, key, place) {
  return [...keys.slice(0, place), key, ...keys.slice(place)]
}

// With `isMore`, the column is added as a secondary sort key.
export function sorted(sorts, key, isNumeric, isMore) {
  const first = isNumeric ? `-${key}` : key
  const second = isNumeric ? key : `-${key}`
  if (!isMore) return [sorts[0] === first ? second : first]
  const place = sorts.findIndex((sort) => sort === first || sort === second)
  if (place < 0) return [...sorts.slice(0, MAX_SORTS - 1), first]
  if (sorts[place] === second) return sorts.filter((_, other) => other !== place)
  return sorts.map((sort, other) => (other === place ? second : sort))
}

const MAX_SORTS = 4
