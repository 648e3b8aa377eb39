// Puts what floats above the page beside the button that opened it, within the window.

const GAP_PIXELS = 4

export function placeBeside(panel, button) {
  const from = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = panel
  const isAbove = from.bottom + GAP_PIXELS + height > window.innerHeight && from.top > height
  Object.assign(panel.style, {
    left: `${Math.max(GAP_PIXELS, Math.min(from.right - width, window.innerWidth - width - GAP_PIXELS))}px`,
    top: `${isAbove ? from.top - height - GAP_PIXELS : from.bottom + GAP_PIXELS}px`,
  })
}
