// Moves between the visible findings of a run page.

export function hasFindings() {
  return shown().length > 0
}

export function moveFinding(step) {
  const all = shown()
  const here = all.findIndex((each) => each.contains(document.activeElement))
  const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step
  all[Math.min(Math.max(next, 0), all.length - 1)]?.focus()
}

function shown() {
  return [...document.querySelectorAll('[data-part="finding"]')].filter((each) => each.checkVisibility())
}
