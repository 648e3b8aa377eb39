// Renders the visible rows of the runs table. Row elements are recycled, so their number
// depends on the window height only.
import { GridKeys } from "./grid_keys.js"
import { icon } from "../core/elements.js"
import { cellClass, fillDifference, fillFork, fillNest, fillNumbers, groupLabel, headCell, hiddenText, createElement } from "./grid_parts.js"
import { HeadPointer } from "./column_drag.js"
import { MIN_WIDTH, MAX_WIDTH, columnsFor, stateSign, texts } from "./run_columns.js"
import cutName from "../components/cut_name.js"
import { RunNames, nameParts } from "../core/run_names.js"
import { gettext } from "../core/texts.js"

const OVERSCAN_ROWS = 8
const RUN_COLOURS = 10
const RUN_ROUNDS = 4
// The name column grows with the longest name, within these limits in pixels.
const MIN_NAME_WIDTH = 150
const MAX_NAME_WIDTH = 480
const MAX_NAME_SHARE = 0.62
const NAME_CHARACTER = 7.6
const NAME_SIGNS = 84
const NEST_SIGNS = 110
const PHONE = window.matchMedia("(max-width: 760px)")

export class GridView {
  // One entry per row element: { element, name, mark, fold, parent, sign, link, fork, kids, eye,
  // dot, pin, group, cells, position, row, place }.
  #drawn = [] // recycled
  #onTop = []

  // `rows` is replaceable. `eyeOf` returns the visibility of a run in charts, or null.
  // `isShownTicked` returns whether the header checkbox is checked.
  constructor(element, { rows, selection, state, eyeOf, isShownTicked, onScroll, ...events }) {
    this.element = element
    this.rows = rows
    this.selection = selection
    this.state = state
    this.eyeOf = eyeOf
    this.isShownTicked = isShownTicked
    this.onScroll = onScroll
    this.active = { position: 0, column: 0 }
    this.canvas = createElement("div", "runs-grid__canvas")
    this.head = createElement("div", "runs-grid__row runs-grid__row--head", "row")
    this.canvas.append(this.head)
    element.replaceChildren(this.canvas)

    this.keys = new GridKeys(this, events)
    this.pointer = new HeadPointer(this, events)
    element.addEventListener("scroll", () => this.#scheduleDraw(), { passive: true })
    new ResizeObserver(() => {
      // A turned phone may show the columns in another order.
      if (this.columns && this.isPhone !== PHONE.matches) return this.arrange()
      if (this.columns) this.#fitNames()
      this.#scheduleDraw()
    }).observe(element)
  }

  get rowHeight() {
    return this.state.rowHeight
  }

  // First and last position to render, without pinned rows: the visible ones plus overscan.
  get range() {
    const top = this.rows.top.length
    const first = Math.floor(this.element.scrollTop / this.rowHeight) + top
    const count = Math.ceil(this.element.clientHeight / this.rowHeight) - top
    return [
      Math.max(top, first - OVERSCAN_ROWS),
      Math.min(this.rows.matching - 1, first + count + OVERSCAN_ROWS),
    ]
  }

  get rowsPerPage() {
    return Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 2 - this.rows.top.length)
  }

  toTop() {
    this.element.scrollTop = 0
    this.active.position = Math.min(this.active.position, 0)
  }

  // Rebuilds all rows after a change of columns, widths, height or groups.
  arrange() {
    this.found = null
    this.draw()
  }

  draw() {
    if (this.found !== this.rows.columns) this.#arrange()
    this.canvas.style.height = `${(this.rows.matching + 1) * this.rowHeight}px`
    this.element.setAttribute("aria-rowcount", this.rows.matching + 1)
    // Only rows of a tree can be opened.
    this.element.setAttribute("role", this.rows.groups || this.rows.isNested ? "treegrid" : "grid")
    this.#drawHead()
    this.#drawRows()
    this.#markActive()
  }

  // Activates a cell and scrolls it into view.
  activate(position, column) {
    this.active = {
      position: Math.max(-1, Math.min(position, this.rows.matching - 1)),
      column: Math.max(0, Math.min(column, this.columns.length)),
    }
    this.#reveal()
    this.#drawRows()
    this.#markActive()
  }

  resize(key, width) {
    const column = this.columns.find((one) => one.key === key)
    column.width = Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))
    this.#setWidths()
  }

  #scheduleDraw() {
    if (this.frame) return
    this.frame = requestAnimationFrame(() => {
      this.frame = null
      this.#drawRows()
      this.#markActive()
      this.onScroll(...this.range)
    })
  }

  #arrange() {
    this.found = this.rows.columns
    const rows = Array.from({ length: 100 }, (_, i) => this.rows.row(i)).filter((row) => row?.values)
    const { widths, pinned } = this.state
    this.isPhone = PHONE.matches
    // A phone shows one or two columns, unless they were chosen.
    const isMetricFirst = PHONE.matches && !pinned && !this.state.all("column").length
    this.columns = this.state.isCharts
      ? []
      : columnsFor(this.found, rows, { widths, pinned, isCompared: this.rows.top.length > 0, isMetricFirst })
    this.element.style.setProperty("--row", `${this.rowHeight}px`)
    this.names = new RunNames(rows.flatMap(({ name, parent, fork }) => [name, parent ?? name, fork?.name ?? name]))
    const longest = Math.max(0, ...rows.map((row) => row.name?.length ?? 0))
    const signs = this.rows.isNested || rows.some(({ parent, fork }) => parent || fork) ? NEST_SIGNS : 0
    const width = Math.min(MAX_NAME_WIDTH, Math.max(MIN_NAME_WIDTH, longest * NAME_CHARACTER + NAME_SIGNS)) + signs
    this.nameWidth = width
    this.element.style.setProperty("--names", `${width}px`)
    this.#setWidths()
    this.element.setAttribute("aria-colcount", this.columns.length + 1)
    for (const { element } of [...this.#drawn, ...this.#onTop]) element.remove()
    this.#drawn = []
    this.#onTop = []
    this.head.replaceChildren(
      headCell("name", { key: "name", label: gettext("Name") }, 0),
      ...this.columns.map((column, i) => headCell(column.key, column, i + 1)),
    )
    this.head.setAttribute("aria-rowindex", 1)
    this.active.column = Math.min(this.active.column, this.columns.length)
  }

  #setWidths() {
    const widths = this.columns.map((column) => `${column.width}px`).join(" ") || "0px"
    this.canvas.style.setProperty("--columns", widths)
    this.#fitNames()
    let left = 0
    for (const column of this.columns.filter((one) => one.isPinned)) {
      column.left = left
      left += column.width
      const rows = [...this.#drawn, ...this.#onTop]
      for (const cell of [this.head.children[column.place + 1], ...rows.map(({ cells }) => cells[column.place])]) {
        cell?.style.setProperty("--left", `${column.left}px`)
      }
    }
  }

  // On a phone, names fill the width next to whole columns.
  #fitNames() {
    this.element.style.removeProperty("--pinned")
    if (!PHONE.matches || !this.columns.length) return
    const all = this.element.clientWidth
    let room = all - Math.min(this.nameWidth, MAX_NAME_SHARE * all)
    let used = 0
    for (const { width } of this.columns) {
      if (used && width > room) break
      used += width
      room -= width
    }
    const names = Math.max(MIN_NAME_WIDTH, all - used)
    if (used < all) this.element.style.setProperty("--pinned", `${names}px`)
  }

  #drawHead() {
    const mark = this.head.querySelector(".runs-grid__mark")
    mark.ariaChecked = this.isShownTicked() ? "true" : this.selection.ids.length ? "mixed" : "false"
    const sorts = this.state.sorts
    for (const cell of this.head.children) {
      const key = cell.dataset.key
      const place = sorts.findIndex((sort) => sort === key || sort === `-${key}`)
      const order = place < 0 ? "none" : sorts[place].startsWith("-") ? "descending" : "ascending"
      cell.setAttribute("aria-sort", order)
      const arrow = cell.querySelector(".runs-grid__arrow")
      arrow.dataset.place = place >= 0 && sorts.length > 1 ? place + 1 : ""
    }
  }

  #drawRows() {
    const now = Date.now() - this.rows.clockAheadMs
    this.#drawTop(now)
    const [from, to] = this.range
    const size = to - from + 1
    while (this.#drawn.length < size) this.#drawn.push(this.#makeRow())
    const count = this.#drawn.length
    const seen = new Set()
    for (let position = from; position <= to; position++) {
      const drawn = this.#drawn[position % count]
      seen.add(drawn)
      this.#place(drawn, position)
      this.#fill(drawn, this.rows.row(position), now)
    }
    for (const drawn of this.#drawn) drawn.element.hidden = !seen.has(drawn)
  }

  // Pinned rows are sticky below the header.
  #drawTop(now) {
    const { top } = this.rows
    while (this.#onTop.length > top.length) this.#onTop.pop().element.remove()
    for (const [position, row] of top.entries()) {
      if (position === this.#onTop.length) {
        const drawn = this.#makeRow()
        drawn.element.classList.add("runs-grid__row--top")
        drawn.element.style.setProperty("--place", position + 1)
        drawn.element.setAttribute("aria-rowindex", position + 2)
        drawn.element.dataset.position = position
        drawn.position = position
        ;(this.#onTop[position - 1]?.element ?? this.head).after(drawn.element)
        this.#onTop.push(drawn)
      }
      this.#fill(this.#onTop[position], row, now)
    }
  }

  #makeRow() {
    const element = createElement("div", "runs-grid__row", "row")
    const name = createElement("div", "runs-grid__name", "gridcell")
    const mark = createElement("span", "runs-grid__mark")
    const fold = createElement("span", "runs-grid__fold")
    const sign = createElement("span", "runs-grid__state")
    const parent = createElement("span", "runs-grid__parent cut")
    const kids = createElement("span", "runs-grid__kids")
    const link = createElement("a", "runs-grid__link cut")
    link.tabIndex = -1
    const fork = createElement("a", "runs-grid__fork")
    fork.tabIndex = -1
    fork.hidden = true
    const group = createElement("span", "runs-grid__group")
    const eye = createElement("span", "runs-grid__eye")
    const dot = createElement("span", "runs-grid__dot")
    dot.title = gettext("Color")
    const pin = createElement("span", "runs-grid__pin")
    pin.append(icon("pin"))
    name.append(mark, group, fold, sign, parent, link, fork, kids, pin, eye, dot)
    const cells = this.columns.map((column) => {
      const cell = createElement("div", cellClass("runs-grid__cell", column), "gridcell")
      if (column.isPinned) cell.style.setProperty("--left", `${column.left}px`)
      return cell
    })
    for (const [i, cell] of [name, ...cells].entries()) cell.setAttribute("aria-colindex", i + 1)
    element.append(name, ...cells)
    this.canvas.append(element)
    return { element, name, mark, fold, sign, parent, link, fork, kids, eye, dot, pin, group, cells }
  }

  #place(drawn, position) {
    if (drawn.position === position) return
    drawn.position = position
    drawn.element.style.transform = `translateY(${(position + 1) * this.rowHeight}px)`
    drawn.element.setAttribute("aria-rowindex", position + 2)
    drawn.element.dataset.position = position
  }

  #fill(drawn, row, now) {
    if (row?.group) return this.#fillGroup(drawn, row)
    const reference = this.rows.top[0]
    fillNest(drawn, row, this.rows.nestAt(drawn.position), PHONE.matches)
    if (drawn.row !== row || drawn.reference !== reference || drawn.isGroup) {
      drawn.row = row
      drawn.reference = reference
      this.#asGroup(drawn, false)
      drawn.element.classList.toggle("runs-grid__row--waiting", !row)
      drawn.link.replaceChildren(...nameParts(this.names, row?.name ?? ""))
      drawn.parent.replaceChildren(...nameParts(this.names, row?.parent ?? ""))
      cutName(drawn.link)
      cutName(drawn.parent)
      drawn.sign.replaceChildren(...(row ? [stateSign(row, now)] : []))
      drawn.link.title = drawn.link.ariaLabel = row?.name ?? ""
      if (row) drawn.link.href = row.url
      else drawn.link.removeAttribute("href")
      this.columns.forEach((column, i) => {
        if (!row) return drawn.cells[i].replaceChildren()
        column.fill(drawn.cells[i], row.values[column.place], row, now, column)
        if (reference && row.id !== reference.id) fillDifference(drawn.cells[i], column, row, reference)
      })
      fillFork(drawn.fork, row?.fork, nameParts(this.names, row?.fork?.name ?? ""))
      this.#fillPin(drawn, row)
      drawn.place = undefined
    } else if (row?.state === "running") {
      // Elapsed time changes without new data.
      drawn.sign.replaceChildren(stateSign(row, now))
      for (const [i, column] of this.columns.entries()) {
        const passes = ["duration", "wall_time"].includes(column.key) || (column.key === "state" && row.silent !== null)
        if (passes) column.fill(drawn.cells[i], row.values[column.place], row, now, column)
      }
    }
    this.#colour(drawn, row)
  }

  #fillPin(drawn, row) {
    const isOnTop = this.rows.top.some(({ id }) => id === row?.id)
    drawn.element.classList.toggle("runs-grid__row--kept", isOnTop)
    drawn.pin.title = isOnTop ? gettext("Unpin from top") : gettext("Pin to top")
  }

  #fillGroup(drawn, { group, isOpen }) {
    const shown = this.state.shownOfGroups
    const { isMatching } = this.selection
    const version = `${isOpen} ${shown} ${isMatching}`
    if (drawn.row === group && drawn.isGroup === version) return
    drawn.row = group
    this.#asGroup(drawn, version)
    drawn.element.classList.remove("runs-grid__row--waiting")
    fillNest(drawn, null, null)
    fillFork(drawn.fork, null)
    drawn.element.setAttribute("aria-expanded", String(isOpen))
    drawn.element.setAttribute("aria-selected", String(isMatching))
    drawn.element.classList.remove("runs-grid__row--unseen")
    drawn.eye.replaceChildren()
    drawn.dot.hidden = true
    delete drawn.element.dataset.slot
    drawn.link.removeAttribute("href")
    drawn.link.textContent = drawn.link.ariaLabel = ""
    delete drawn.link.dataset.cut
    drawn.sign.replaceChildren()
    drawn.group.replaceChildren(...groupLabel(group, this.rows.keys, isOpen))
    drawn.group.title = group.values.map((value) => texts(value)[0]).join(" · ")
    this.columns.forEach((column, i) => fillNumbers(drawn.cells[i], group.numbers.get(column.key), shown, column))
  }

  #asGroup(drawn, version) {
    const wasGroup = drawn.isGroup
    drawn.isGroup = version
    drawn.element.classList.toggle("runs-grid__row--group", Boolean(version))
    if (version || !wasGroup) return
    drawn.group.replaceChildren()
    drawn.element.removeAttribute("aria-expanded")
  }

  #colour(drawn, row) {
    const place = row ? this.selection.place(row.id) : -1
    const eye = row ? this.eyeOf(row.id) : null
    // Pinned rows may not match the query.
    const isMatching = this.selection.isMatching && !this.#onTop.includes(drawn)
    const version = `${place} ${isMatching} ${eye?.slot} ${eye?.line} ${eye?.isOpen}`
    if (drawn.place === version) return
    drawn.place = version
    drawn.element.setAttribute("aria-selected", String(isMatching || place >= 0))
    drawn.element.classList.toggle("runs-grid__row--unseen", eye?.isOpen === false)
    if (eye?.isOpen) drawn.element.dataset.slot = eye.slot
    else delete drawn.element.dataset.slot
    drawn.element.classList.remove("is-pointed")
    paint(drawn.mark, place)
    drawn.dot.hidden = !eye?.isOpen
    if (eye?.isOpen) drawn.dot.className = `runs-grid__dot ${coloured(eye.line)}`
    drawn.eye.replaceChildren(...(eye ? [icon(eye.isOpen ? "eye" : "eye-off"), hiddenText(eye.status)] : []))
    drawn.eye.title = eye?.title ?? ""
  }

  dotAt(position) {
    return this.#drawnAt(position)?.dot
  }

  nameOf(id) {
    return [...this.#onTop, ...this.#drawn].find(({ row }) => row?.id === id)?.row.name
  }

  #drawnAt(position) {
    return [...this.#onTop, ...this.#drawn].find((one) => one.position === position && !one.element.hidden)
  }

  #markActive() {
    this.canvas.querySelector(".is-active")?.classList.remove("is-active")
    const cell = this.#activeCell()
    this.element.toggleAttribute("aria-activedescendant", Boolean(cell))
    if (!cell) return
    // Row elements are recycled, so the id moves between cells.
    this.canvas.querySelector("#active-cell")?.removeAttribute("id")
    cell.id = "active-cell"
    cell.classList.add("is-active")
    this.element.setAttribute("aria-activedescendant", "active-cell")
  }

  #activeCell() {
    const { position, column } = this.active
    if (position < 0) return this.head.children[column]
    const drawn = this.#drawnAt(position)
    return drawn && (column === 0 ? drawn.name : drawn.cells[column - 1])
  }

  #reveal() {
    const { position, column } = this.active
    const { clientHeight, clientWidth } = this.element
    const topCount = this.rows.top.length
    if (position >= topCount) {
      const highest = (position - topCount) * this.rowHeight
      const lowest = (position + 2) * this.rowHeight - clientHeight
      if (this.element.scrollTop > highest) this.element.scrollTop = highest
      if (this.element.scrollTop < lowest) this.element.scrollTop = lowest
    }
    if (column === 0 || this.columns[column - 1].isPinned) return
    const pinnedWidth = this.columns.filter((one) => one.isPinned).reduce((sum, one) => sum + one.width, 0)
    const pinned = this.head.firstElementChild.offsetWidth
    const before = this.columns.slice(0, column - 1).reduce((sum, one) => sum + one.width, 0)
    const left = before - pinnedWidth
    const right = before + this.columns[column - 1].width - (clientWidth - pinned)
    if (this.element.scrollLeft > left) this.element.scrollLeft = left
    if (this.element.scrollLeft < right) this.element.scrollLeft = right
  }
}

function coloured(slot) {
  const round = Math.floor(slot / RUN_COLOURS) % RUN_ROUNDS
  return `run-colour run-colour--${slot % RUN_COLOURS} run-colour--round-${round}`
}

function paint(sign, slot) {
  if (slot >= 0) sign.style.setProperty("--swatch", `var(--run-${slot % RUN_COLOURS})`)
  else sign.style.removeProperty("--swatch")
}
