// Which lines of a long list are in view, whatever their number: a browser's page can be
// only so tall, so in a very long list one pixel of scrolling stands for more than one.

export const LINE_PIXELS = 20
const TALLEST_PIXELS = 8_000_000

export function heightOf(count) {
  return Math.min(count * LINE_PIXELS, TALLEST_PIXELS)
}

// The first line in view, with its fraction that is scrolled away already.
export function firstLine(count, viewPixels, scrollTop) {
  const height = heightOf(count)
  const hidden = Math.max(0, height - viewPixels)
  const hiddenLines = Math.max(0, count - viewPixels / LINE_PIXELS)
  if (hidden === 0) return 0
  return Math.min(1, scrollTop / hidden) * hiddenLines
}

// Where to scroll so that this line is the first in view, as far as that goes.
export function scrollTopOf(count, viewPixels, line) {
  const hidden = Math.max(0, heightOf(count) - viewPixels)
  const hiddenLines = Math.max(0, count - viewPixels / LINE_PIXELS)
  if (hiddenLines === 0) return 0
  return (Math.min(Math.max(line, 0), hiddenLines) / hiddenLines) * hidden
}
