// Draws the visible part of a long table of runs. Rows are reused as they scroll out
// of sight: their number depends on the height of the window, not on that of the table.
import { GridKeys } from "./grid_keys.js"
import { columnsFor } from "./run_columns.js"

const ROW_HEIGHT = 28
const SPARE_ROWS = 8
const RUN_COLOURS = 10

export class GridView {
  #drawn = [] // for each reused row: { element, name, mark, link, cells, position, row, place }

  constructor(element, { blocks, selection, sort, onSort, onSelect, onOpen, onScroll }) {
    this.element = element
    this.blocks = blocks
    this.selection = selection
    this.sort = sort
    this.onScroll = onScroll
    this.active = { position: 0, column: 0 }
    this.canvas = made("div", "runs-grid__canvas")
    this.head = made("div", "runs-grid__row runs-grid__row--head", "row")
    this.canvas.append(this.head)
    element.replaceChildren(this.canvas)

    this.keys = new GridKeys(this, { onSort, onSelect, onOpen })
    element.addEventListener("scroll", () => this.#soon(), { passive: true })
    new ResizeObserver(() => this.#soon()).observe(element)
  }

  get range() {
    const first = Math.floor(this.element.scrollTop / ROW_HEIGHT)
    const count = Math.ceil(this.element.clientHeight / ROW_HEIGHT)
    return [
      Math.max(0, first - SPARE_ROWS),
      Math.min(this.blocks.matching - 1, first + count + SPARE_ROWS),
    ]
  }

  get rowsPerPage() {
    return Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 2)
  }

  toTop() {
    this.element.scrollTop = 0
    this.active.position = Math.min(this.active.position, 0)
  }

  draw() {
    if (this.found !== this.blocks.columns) this.#arrange()
    this.canvas.style.height = `${(this.blocks.matching + 1) * ROW_HEIGHT}px`
    this.element.setAttribute("aria-rowcount", this.blocks.matching + 1)
    this.#drawHead()
    this.#drawRows()
    this.#markActive()
  }

  // Makes a cell active and brings it into sight.
  activate(position, column) {
    this.active = {
      position: Math.max(-1, Math.min(position, this.blocks.matching - 1)),
      column: Math.max(0, Math.min(column, this.columns.length)),
    }
    this.#reveal()
    this.#drawRows()
    this.#markActive()
  }

  #soon() {
    if (this.frame) return
    this.frame = requestAnimationFrame(() => {
      this.frame = null
      this.#drawRows()
      this.#markActive()
      this.onScroll(...this.range)
    })
  }

  #arrange() {
    this.found = this.blocks.columns
    const rows = Array.from({ length: 100 }, (_, i) => this.blocks.row(i)).filter(Boolean)
    this.columns = columnsFor(this.found, rows)
    const widths = this.columns.map((column) => `${column.width}px`).join(" ")
    this.canvas.style.setProperty("--columns", widths)
    this.element.setAttribute("aria-colcount", this.columns.length + 1)
    for (const { element } of this.#drawn) element.remove()
    this.#drawn = []
    this.head.replaceChildren(
      headCell("name", { key: "name", label: "Name" }, 0),
      ...this.columns.map((column, i) => headCell(column.key, column, i + 1)),
    )
    this.head.setAttribute("aria-rowindex", 1)
  }

  #drawHead() {
    const sort = this.sort()
    for (const cell of this.head.children) {
      const key = cell.dataset.key
      const order = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none"
      cell.setAttribute("aria-sort", order)
    }
  }

  #drawRows() {
    const [from, to] = this.range
    const size = to - from + 1
    const now = Date.now() - this.blocks.clockAheadMs
    while (this.#drawn.length < size) this.#drawn.push(this.#makeRow())
    const count = this.#drawn.length
    const seen = new Set()
    for (let position = from; position <= to; position++) {
      const drawn = this.#drawn[position % count]
      seen.add(drawn)
      this.#place(drawn, position)
      this.#fill(drawn, this.blocks.row(position), now)
    }
    for (const drawn of this.#drawn) drawn.element.hidden = !seen.has(drawn)
  }

  #makeRow() {
    const element = made("div", "runs-grid__row", "row")
    const name = made("div", "runs-grid__name", "gridcell")
    const mark = made("span", "runs-grid__mark")
    const link = made("a", "runs-grid__link")
    link.tabIndex = -1
    name.append(mark, link)
    const cells = this.columns.map((column) =>
      made("div", cellClass("runs-grid__cell", column), "gridcell"),
    )
    for (const [i, cell] of [name, ...cells].entries()) cell.setAttribute("aria-colindex", i + 1)
    element.append(name, ...cells)
    this.canvas.append(element)
    return { element, name, mark, link, cells }
  }

  #place(drawn, position) {
    if (drawn.position === position) return
    drawn.position = position
    drawn.element.style.transform = `translateY(${(position + 1) * ROW_HEIGHT}px)`
    drawn.element.setAttribute("aria-rowindex", position + 2)
    drawn.element.dataset.position = position
  }

  #fill(drawn, row, now) {
    const place = row ? this.selection.place(row.id) : -1
    if (drawn.row !== row) {
      drawn.row = row
      drawn.element.classList.toggle("runs-grid__row--waiting", !row)
      drawn.link.textContent = row?.name ?? ""
      drawn.link.title = row?.name ?? ""
      if (row) drawn.link.href = row.url
      else drawn.link.removeAttribute("href")
      this.columns.forEach((column, i) => {
        if (row) column.fill(drawn.cells[i], row, now)
        else drawn.cells[i].replaceChildren()
      })
      drawn.place = undefined
    } else if (row?.state === "running") {
      // Time passes even when nothing is logged.
      const i = this.columns.findIndex((column) => column.key === "duration")
      this.columns[i].fill(drawn.cells[i], row, now)
    }
    this.#colour(drawn, place)
  }

  #colour(drawn, place) {
    if (drawn.place === place) return
    drawn.place = place
    drawn.element.setAttribute("aria-selected", String(place >= 0))
    if (place >= 0) drawn.mark.style.setProperty("--swatch", `var(--run-${place % RUN_COLOURS})`)
    else drawn.mark.style.removeProperty("--swatch")
  }

  #markActive() {
    this.canvas.querySelector(".is-active")?.classList.remove("is-active")
    const cell = this.#activeCell()
    this.element.toggleAttribute("aria-activedescendant", Boolean(cell))
    if (!cell) return
    // One id wanders over the reused cells.
    this.canvas.querySelector("#active-cell")?.removeAttribute("id")
    cell.id = "active-cell"
    cell.classList.add("is-active")
    this.element.setAttribute("aria-activedescendant", "active-cell")
  }

  #activeCell() {
    const { position, column } = this.active
    if (position < 0) return this.head.children[column]
    const drawn = this.#drawn.find(
      (one) => one.position === position && !one.element.hidden,
    )
    return drawn && (column === 0 ? drawn.name : drawn.cells[column - 1])
  }

  #reveal() {
    const { position, column } = this.active
    const { clientHeight, clientWidth } = this.element
    if (position >= 0) {
      const top = position * ROW_HEIGHT
      const lowest = top - clientHeight + 2 * ROW_HEIGHT
      if (this.element.scrollTop > top) this.element.scrollTop = top
      if (this.element.scrollTop < lowest) this.element.scrollTop = lowest
    }
    if (column === 0) return
    const pinned = this.head.firstElementChild.offsetWidth
    const left = this.columns.slice(0, column - 1).reduce((sum, one) => sum + one.width, 0)
    const right = left + this.columns[column - 1].width - (clientWidth - pinned)
    if (this.element.scrollLeft > left) this.element.scrollLeft = left
    if (this.element.scrollLeft < right) this.element.scrollLeft = right
  }
}

function headCell(key, column, i) {
  const cell = made("div", cellClass(i === 0 ? "runs-grid__name" : "runs-grid__cell", column), "columnheader")
  cell.dataset.key = key
  cell.title = column.hint ?? column.label
  cell.setAttribute("aria-colindex", i + 1)
  const label = made("span", "runs-grid__label")
  const cut = column.label.lastIndexOf("/") + 1
  const space = made("span", "runs-grid__namespace")
  space.textContent = column.label.slice(0, cut)
  label.append(space, column.label.slice(cut))
  cell.append(label, made("span", "runs-grid__arrow"))
  return cell
}

function cellClass(name, column) {
  const numeric = column.isNumeric ? ` ${name}--numeric` : ""
  return `${name}${numeric}${column.startsGroup ? ` ${name}--group` : ""}`
}

function made(tag, className, role) {
  const element = document.createElement(tag)
  element.className = className
  if (role) element.setAttribute("role", role)
  return element
}
