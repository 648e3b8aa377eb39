// Mouse and keyboard of the runs table, as the ARIA grid pattern has them.
export class GridKeys {
  constructor(view, { onSort, onSelect, onOpen }) {
    this.view = view
    this.onSort = onSort
    this.onSelect = onSelect
    this.onOpen = onOpen
    view.element.addEventListener("keydown", (event) => this.press(event))
    view.element.addEventListener("click", (event) => this.click(event))
  }

  press(event) {
    const move = this.#move(event)
    if (move) {
      event.preventDefault()
      this.view.activate(...move)
      const { position } = this.view.active
      if (event.shiftKey && event.key.startsWith("Arrow") && position >= 0) this.onSelect(position, true)
      return
    }
    const { position } = this.view.active
    if (event.key === " " && position >= 0) {
      event.preventDefault()
      this.onSelect(position, event.shiftKey)
    }
    if (event.key === "Enter") {
      event.preventDefault()
      if (position < 0) this.#sortActive()
      else this.#open(event, position)
    }
  }

  click(event) {
    const head = event.target.closest("[role=columnheader]")
    if (head) {
      this.onSort(head.dataset.key, head.className.includes("--numeric"))
      return
    }
    const row = event.target.closest("[data-position]")
    if (!row) return

    const position = Number(row.dataset.position)
    const cell = event.target.closest("[role=gridcell]")
    this.view.activate(position, cell ? Number(cell.ariaColIndex) - 1 : 0)
    const isMark = event.target.classList.contains("runs-grid__mark")
    if (isMark || (event.shiftKey && !event.target.closest("a"))) {
      this.onSelect(position, event.shiftKey)
    }
  }

  // Where a key leads: a position (-1 is the head) and a column, or nothing.
  #move({ key, ctrlKey, metaKey, altKey }) {
    if (altKey) return null
    const { position, column } = this.view.active
    const last = this.view.blocks.matching - 1
    const toEnds = ctrlKey || metaKey
    const moves = {
      ArrowUp: [toEnds ? 0 : position - 1, column],
      ArrowDown: [toEnds ? last : position + 1, column],
      ArrowLeft: [position, column - 1],
      ArrowRight: [position, column + 1],
      PageUp: [Math.max(0, position - this.view.rowsPerPage), column],
      PageDown: [position + this.view.rowsPerPage, column],
      Home: [toEnds ? 0 : position, 0],
      End: [toEnds ? last : position, this.view.columns.length],
    }
    return Object.hasOwn(moves, key) ? moves[key] : null
  }

  #sortActive() {
    const head = this.view.head.children[this.view.active.column]
    this.onSort(head.dataset.key, head.className.includes("--numeric"))
  }

  #open(event, position) {
    const row = this.view.blocks.row(position)
    if (row) this.onOpen(row, event)
  }
}
