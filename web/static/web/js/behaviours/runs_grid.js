// The runs table: toolbar, selection and keyboard around a virtual grid of runs.
import { RunBlocks } from "../models/run_blocks.js"
import { Selection } from "../models/selection.js"
import { number } from "../models/format.js"
import { GridView } from "../models/grid_view.js"
import { showMistake } from "../models/query_mistake.js"

const FILTERS = ["q", "state", "tag", "query"]
const REFRESH_MS = 3_000
const TYPING_MS = 250
const COMPARED_AT_MOST = 20
// Runs picked with one click: their rows have to be fetched.
const LONGEST_RANGE = 1_000

export default function runsGrid(element) {
  new RunsGrid(element).start()
}

class RunsGrid {
  constructor(element) {
    this.element = element
    this.form = element.querySelector("form")
    this.query = new URLSearchParams(location.search)
    const first = JSON.parse(element.querySelector("#first-block").textContent)
    this.blocks = new RunBlocks(element.dataset.pageUrl, this.query, first)
    // Of what is shown, which lags behind what is asked for.
    this.isFiltered = hasFilter(this.query)
    this.selection = new Selection()
    this.view = new GridView(this.part("grid"), {
      blocks: this.blocks,
      selection: this.selection,
      sort: () => this.query.get("sort") || "-started",
      onSort: (key, isNumeric) => this.sort(key, isNumeric),
      onSelect: (position, isRange) => this.select(position, isRange),
      onOpen: (row, event) => open(row, event),
      onScroll: (from, to) => this.loadSoon(from, to),
    })
  }

  start() {
    this.form.addEventListener("submit", (event) => event.preventDefault())
    this.form.elements.q.addEventListener("input", () => this.filterSoon())
    this.form.elements.query.addEventListener("input", () => this.filterSoon())
    this.form.elements.state.addEventListener("change", () => this.filter())
    this.form.elements.tag.addEventListener("change", () => this.filter())
    for (const name of ["clear", "clear-all", "clear-unread"]) {
      this.part(name).addEventListener("click", () => this.clear())
    }
    this.part("unselect").addEventListener("click", () => this.unselect())
    this.refreshing = setInterval(() => this.refresh(), REFRESH_MS)
    document.addEventListener("visibilitychange", () => this.refresh())
    this.draw()
  }

  // What people do

  filterSoon() {
    clearTimeout(this.typing)
    this.typing = setTimeout(() => this.filter(), TYPING_MS)
  }

  filter() {
    for (const name of FILTERS) {
      const value = this.form.elements[name].value.trim()
      if (value) this.query.set(name, value)
      else this.query.delete(name)
    }
    return this.ask()
  }

  clear() {
    clearTimeout(this.typing)
    for (const name of FILTERS) this.form.elements[name].value = ""
    return this.filter()
  }

  // A second click on a column turns its order round.
  sort(key, isNumeric) {
    const now = this.query.get("sort") || "-started"
    const first = isNumeric ? `-${key}` : key
    this.query.set("sort", now === first ? (isNumeric ? key : `-${key}`) : first)
    return this.ask()
  }

  async select(position, isRange) {
    if (isRange) {
      const [from, last] = this.selection.rangeTo(position)
      const to = Math.min(last, from + LONGEST_RANGE - 1)
      await this.blocks.load(from, to)
      const rows = Array.from({ length: to - from + 1 }, (_, i) => this.blocks.row(from + i))
      this.selection.add(rows.filter(Boolean).map((row) => row.id))
    } else {
      const row = this.blocks.row(position)
      if (row) this.selection.toggle(row.id, position)
    }
    this.draw()
  }

  unselect() {
    this.selection.clear()
    this.draw()
  }

  // What follows from it

  async ask() {
    const address = new URL(location)
    address.search = this.query
    history.replaceState(history.state, "", address)
    await this.blocks.ask(this.query)
    if (this.blocks.mistake) return this.drawMistake()
    this.isFiltered = hasFilter(this.query)
    this.view.toTop()
    this.draw()
  }

  loadSoon(from, to) {
    clearTimeout(this.scrolling)
    // Not while somebody drags the scroll bar past a thousand rows.
    this.scrolling = setTimeout(async () => {
      await this.blocks.load(from, to)
      this.draw()
    }, 60)
  }

  async refresh() {
    if (!this.element.isConnected) return clearInterval(this.refreshing)
    if (document.hidden) return
    await this.blocks.refresh(...this.view.range)
    this.draw()
  }

  draw() {
    const { total, matching, isUnread } = this.blocks
    const isFound = this.isFiltered && !isUnread
    const found = isFound ? `${number(matching)} of ${runs(total)}` : runs(total)
    this.part("count").textContent = this.blocks.isAway ? `${found}, the server does not answer` : found
    this.part("clear").hidden = !this.isFiltered
    this.part("none").hidden = matching > 0 || isUnread
    this.part("unread").hidden = !isUnread
    this.part("grid").hidden = matching === 0
    this.drawMistake()
    this.drawSelection()
    this.view.draw()
  }

  drawMistake() {
    showMistake(this.form.elements.query, this.part("mistake"), this.blocks.mistake)
  }

  drawSelection() {
    const ids = this.selection.ids
    this.part("selected").textContent = ids.length ? `${number(ids.length)} selected` : ""
    this.part("unselect").hidden = ids.length === 0
    const runs = ids.join(",")
    const isComparable = ids.length > 1 && ids.length <= COMPARED_AT_MOST
    link(this.part("compare"), isComparable && `${this.element.dataset.compareUrl}?runs=${runs}`)
    link(this.part("ladder"), isComparable && `${this.element.dataset.laddersUrl}?runs=${runs}`)
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }
}

function hasFilter(query) {
  return FILTERS.some((name) => query.get(name))
}

function runs(count) {
  return count === 1 ? "1 run" : `${number(count)} runs`
}

function open(row, event) {
  if (event.ctrlKey || event.metaKey) window.open(row.url, "_blank", "noopener")
  else location.assign(row.url)
}

// A link without an address cannot be followed, and says so to screen readers.
function link(element, address) {
  if (!element) return
  if (address) element.href = address
  else element.removeAttribute("href")
  element.setAttribute("aria-disabled", String(!address))
  element.title = address ? "" : `Select 2 to ${COMPARED_AT_MOST} runs`
}
