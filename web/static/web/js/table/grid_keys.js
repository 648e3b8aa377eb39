// Mouse and keyboard handling of the runs table, following the ARIA grid pattern.
const RESIZED_BY = 12

export class GridKeys {
  constructor(view, { onSort, onSelect, onOpen, onToggle, onHide, onPin, onChangeColour, onColumn, onMenu, onTickShown }) {
    this.view = view
    this.onSort = onSort
    this.onSelect = onSelect
    this.onOpen = onOpen
    this.onToggle = onToggle
    this.onHide = onHide
    this.onPin = onPin
    this.onChangeColour = onChangeColour
    this.onColumn = onColumn
    this.onMenu = onMenu
    this.onTickShown = onTickShown
    view.element.addEventListener("keydown", (event) => this.press(event))
    view.element.addEventListener("click", (event) => this.click(event))
    view.element.addEventListener("contextmenu", (event) => this.menu(event))
  }

  press(event) {
    if (this.view.active.position < 0 && this.#pressHead(event)) return event.preventDefault()
    if (this.#pressGroup(event) || this.#pressNest(event)) return event.preventDefault()
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
    if (event.key === "e" && position >= 0 && isBare(event)) this.onHide(position)
    if (event.key === "o" && position >= 0 && isBare(event)) this.onHide(position, { isAlone: true })
    if (event.key === "c" && position >= 0 && isBare(event)) {
      event.preventDefault()
      this.onChangeColour(position)
    }
    if (event.key === "t" && position >= 0 && isBare(event)) this.onPin(position)
    if (event.key === "Enter") {
      event.preventDefault()
      if (position < 0) this.#sortActive(event)
      else this.#open(event, position)
    }
  }

  click(event) {
    const head = event.target.closest("[role=columnheader]")
    if (head) {
      if (event.target.closest(".runs-grid__grip")) return
      if (event.target.closest(".runs-grid__more")) return this.onMenu(head)
      if (event.target.closest(".runs-grid__mark")) return this.onTickShown()
      this.#sort(head, event)
      return
    }
    const row = event.target.closest("[data-position]")
    if (!row) return

    const position = Number(row.dataset.position)
    const sign = event.target.closest(".runs-grid__dot, .runs-grid__eye, .runs-grid__pin, .runs-grid__mark, .runs-grid__fold")?.classList[0]
    const cell = event.target.closest("[role=gridcell]")
    this.view.activate(position, cell ? Number(cell.ariaColIndex) - 1 : 0)
    if (this.view.rows.row(position)?.group) return this.onToggle(position)
    if (sign === "runs-grid__fold") return this.view.rows.row(position)?.children && this.onToggle(position)
    if (sign === "runs-grid__eye") return this.onHide(position, { isRange: event.shiftKey, isAlone: event.altKey })
    if (sign === "runs-grid__dot") return this.onChangeColour(position)
    if (sign === "runs-grid__pin") return this.onPin(position)
    if (sign || (event.shiftKey && !event.target.closest("a"))) {
      this.onSelect(position, event.shiftKey)
    }
  }

  menu(event) {
    const head = event.target.closest("[role=columnheader]")
    if (!head || head.dataset.key === "name") return
    event.preventDefault()
    this.onMenu(head)
  }

  // Header keys: Alt+arrow moves a column, Shift+arrow resizes it; letters and Delete do the
  // rest.
  #pressHead(event) {
    const { column } = this.view.active
    if (column === 0 && event.key === " ") {
      this.onTickShown()
      return true
    }
    const key = this.view.columns[column - 1]?.key
    if (!key) return false
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step && event.altKey) this.onColumn("step", key, step)
    else if (step && event.shiftKey) this.onColumn("width", key, this.view.columns[column - 1].width + step * RESIZED_BY)
    else if (event.key === "Delete") this.onColumn("remove", key)
    else if (event.key === "p" && isBare(event)) this.onColumn("pin", key)
    else if (event.key === "g" && isBare(event)) this.onColumn("group", key)
    else if ((event.key === "ArrowDown" && event.altKey) || event.key === "ContextMenu") this.onMenu(this.view.head.children[column])
    else return false
    return true
  }

  #pressGroup(event) {
    const { position } = this.view.active
    const row = position < 0 ? null : this.view.rows.row(position)
    if (!row?.group) return false
    const isToggle = { ArrowRight: !row.isOpen, ArrowLeft: row.isOpen, Enter: true, " ": true }[event.key]
    if (!isToggle) return false
    this.onToggle(position)
    return true
  }

  // On a run's name, right expands it; left collapses it or moves to its parent.
  #pressNest({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    const { position, column } = this.view.active
    if (ctrlKey || metaKey || altKey || shiftKey || position < 0 || column > 0) return false
    const nest = this.view.rows.nestAt(position)
    const hasChildren = nest && this.view.rows.row(position)?.children
    if (hasChildren && key === (nest.isOpen ? "ArrowLeft" : "ArrowRight")) this.onToggle(position)
    else if (key === "ArrowLeft" && nest?.parent >= 0) this.view.activate(nest.parent, 0)
    else return false
    return true
  }

  // Returns the target [position, column] of a key or null; position -1 is the header.
  #move({ key, ctrlKey, metaKey, altKey }) {
    if (altKey) return null
    const { position, column } = this.view.active
    const last = this.view.rows.matching - 1
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

  #sortActive(event) {
    this.#sort(this.view.head.children[this.view.active.column], event)
  }

  // Shift adds a secondary sort key.
  #sort(head, event) {
    this.onSort(head.dataset.key, head.className.includes("--numeric"), event.shiftKey)
  }

  #open(event, position) {
    const row = this.view.rows.row(position)
    if (row) this.onOpen(row, event)
  }
}

function isBare({ ctrlKey, metaKey, altKey }) {
  return !ctrlKey && !metaKey && !altKey
}
