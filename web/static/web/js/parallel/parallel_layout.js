// Layout of parallel coordinates: axes side by side and a path per run. Pure.

export const MARGIN = { top: 40, bottom: 34, side: 64 }
// Runs without a value cross below the end of the axis.
const NONE_BELOW = 20

export function xOf(index, count, width) {
  if (count === 1) return width / 2
  return MARGIN.side + (index * (width - 2 * MARGIN.side)) / (count - 1)
}

export function yOf(axis, place, height) {
  const bottom = height - MARGIN.bottom
  if (place === null) return bottom + NONE_BELOW
  // Halved to avoid overflow of the difference.
  const share = (place / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2)
  return bottom - share * (bottom - MARGIN.top)
}

export function placeAt(axis, y, height) {
  const bottom = height - MARGIN.bottom
  const share = Math.min(1, Math.max(0, (bottom - y) / (bottom - MARGIN.top)))
  return axis.low * (1 - share) + axis.high * share
}

export function linePath(axes, run, width, height) {
  return axes
    .map((axis, index) => {
      const x = xOf(index, axes.length, width).toFixed(1)
      return `${index ? "L" : "M"}${x} ${yOf(axis, axis.places[run], height).toFixed(1)}`
    })
    .join("")
}

// The runs within all brushes; a brush is [low, high] or null.
export function within(axes, windows, count) {
  return Array.from({ length: count }, (_, run) =>
    axes.every(({ places }, index) => {
      const window = windows[index]
      if (!window) return true
      return places[run] !== null && places[run] >= window[0] && places[run] <= window[1]
    }),
  )
}

// Position on an axis from 0 to 1, for the color; null without a value.
export function shareOf(axis, run) {
  const place = axis.places[run]
  if (place === null) return null
  return (place / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2)
}
