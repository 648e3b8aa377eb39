// Visible lines of a virtual list. Browsers limit the height of elements, so in very long lists one
// scroll pixel stands for more than one.

export const LINE_PIXELS = 20
const MAX_HEIGHT = 8_000_000

export function heightOf(count) {
  return Math.min(count * LINE_PIXELS, MAX_HEIGHT)
}

// The first visible line, including the fraction scrolled out.
export function firstLine(count, viewPixels, scrollTop) {
  const height = heightOf(count)
  const hidden = Math.max(0, height - viewPixels)
  const hiddenLines = Math.max(0, count - viewPixels / LINE_PIXELS)
  if (hidden === 0) return 0
  return Math.min(1, scrollTop / hidden) * hiddenLines
}

// The scroll position that puts this line first, if possible.
export function scrollTopOf(count, viewPixels, line) {
  const hidden = Math.max(0, heightOf(count) - viewPixels)
  const hiddenLines = Math.max(0, count - viewPixels / LINE_PIXELS)
  if (hiddenLines === 0) return 0
  return (Math.min(Math.max(line, 0), hiddenLines) / hiddenLines) * hidden
}
