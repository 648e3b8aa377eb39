// Moves between rows of a grid, which has its own keys, or of tables with a link or button per row.

const ROWS = "main table.table tbody tr"

export function hasRows() {
  return Boolean(grid()) || controls().length > 0
}

export function moveRow(step) {
  const found = grid()
  if (found) return pressArrow(found, step)

  const list = controls()
  const row = document.activeElement?.closest("tr")
  const index = list.findIndex((control) => row?.contains(control))
  const next = index < 0 ? (step > 0 ? 0 : list.length - 1) : index + step
  list[Math.min(Math.max(next, 0), list.length - 1)]?.focus()
}

function grid() {
  return [...document.querySelectorAll("main :is([role=grid], [role=treegrid])")].find((each) => each.checkVisibility())
}

function pressArrow(element, step) {
  if (!element.contains(document.activeElement)) element.focus()
  const key = step > 0 ? "ArrowDown" : "ArrowUp"
  const target = element.contains(document.activeElement) ? document.activeElement : element
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
}

function controls() {
  const visible = [...document.querySelectorAll(ROWS)].filter((row) => row.checkVisibility())
  return visible.map((row) => row.querySelector("a[href], button, input, summary")).filter(Boolean)
}
