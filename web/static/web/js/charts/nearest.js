// Finds the point of a line nearest to an axis position.

// Index of the nearest x, or -1 without points. Uses binary search on sorted lines.
export function nearest(x, place, isSorted = true) {
  if (!x.length) return -1
  return isSorted ? nearestSorted(x, place) : nearestOfAll(x, place)
}

function nearestSorted(x, place) {
  let low = 0
  let high = x.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (x[middle] < place) low = middle + 1
    else high = middle
  }
  return low > 0 && place - x[low - 1] <= x[low] - place ? low - 1 : low
}

function nearestOfAll(x, place) {
  let best = 0
  for (let index = 1; index < x.length; index += 1) {
    if (Math.abs(x[index] - place) < Math.abs(x[best] - place)) best = index
  }
  return best
}

// Each line's point nearest to a position, sorted by the distance from `pixel`. Omits lines with a
// gap there and lines far from the position, unless all are.
export function nearestValues(lines, { place, pixel, toPixel, isSorted, isFar = () => false }) {
  const found = []
  for (const line of lines) {
    const index = nearest(line.x, place, isSorted)
    const value = line.y[index]
    if (index < 0 || !Number.isFinite(value)) continue
    found.push({ line, index, value, distance: Math.abs(toPixel(value) - pixel) })
  }
  const near = found.filter(({ line: { x }, index }) => !(isSorted && isBeyond(x, place) && isFar(x[index])))
  return (near.length ? near : found).sort((one, other) => one.distance - other.distance)
}

// Whether a position is outside of sorted values.
export function isBeyond(x, place) {
  return place < x[0] || place > x[x.length - 1]
}
