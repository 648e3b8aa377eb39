// Positions a popover next to its button, within the window.

const GAP_PIXELS = 4

// Aligns the right edges, or the left edges with `isToTheRight`.
export function placeBeside(panel, button, { isToTheRight = false } = {}) {
  const from = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const left = isToTheRight ? from.left : from.right - width
  const isAbove = from.bottom + GAP_PIXELS + height > window.innerHeight && from.top > height
  const top = isAbove ? from.top - height - GAP_PIXELS : from.bottom + GAP_PIXELS
  Object.assign(panel.style, {
    left: `${Math.max(GAP_PIXELS, Math.min(left, window.innerWidth - width - GAP_PIXELS))}px`,
    top: `${Math.max(GAP_PIXELS, Math.min(top, window.innerHeight - height - GAP_PIXELS))}px`,
  })
}
