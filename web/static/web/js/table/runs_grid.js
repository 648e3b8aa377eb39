// The runs table: toolbar, selection and keyboard around a virtualized grid.
import { changed, sorted } from "./column_changes.js"
import { ChartsSide } from "../chart_page/charts_side.js"
import { number } from "../core/format.js"
import { GridView } from "./grid_view.js"
import { GroupedRows } from "./grouped_rows.js"
import { NestedRows } from "./nested_rows.js"
import { RowPrefetch } from "./row_prefetch.js"
import { RunBlocks } from "./row_blocks.js"
import { canGroup } from "./run_columns.js"
import { makePanels } from "./runs_panels.js"
import { Selection } from "./selection.js"
import { SHOWN_AT_FIRST } from "../chart_page/visible_runs.js"
import { TableBar } from "./table_bar.js"
import { FILTERS, MAX_ON_TOP, TableState } from "./table_state.js"
import { TopRows } from "./pinned_rows.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

const REFRESH_MS = 3_000
// Groups aggregate all matching runs, so they refresh less often.
const REFRESHES_BEFORE_GROUPS = 10
const TYPING_MS = 250
// Limit of a range selection, because its rows have to be fetched.
const MAX_RANGE = 1_000

export default function runsGrid(element) {
  new RunsGrid(element).start()
}

class RunsGrid {
  constructor(element) {
    this.element = element
    this.form = element.querySelector("form")
    const search = new URLSearchParams(location.search)
    this.state = new TableState(search, this.read("table-data"))
    const first = this.read("first-block")
    this.blocks = new RunBlocks(element.dataset.pageUrl, this.state.question, first)
    const openIds = this.isGrouped ? [] : this.state.all("open")
    this.nested = new NestedRows(element.dataset.pageUrl, this.blocks, this.state.question, openIds)
    this.groups = new GroupedRows({ groups: element.dataset.groupsUrl, page: element.dataset.pageUrl })
    // Describes the displayed rows, which may lag behind the query.
    this.isFiltered = this.state.isFiltered
    this.selection = Selection.read(search)
    this.view = new GridView(this.part("grid"), {
      rows: new TopRows(this.blocks, this.nested),
      selection: this.selection,
      state: this.state,
      eyeOf: (id) => (this.state.isCharts ? this.side.eyeOf(id) : this.selection.eyeOf(id)),
      isShownTicked: () => this.isShownTicked,
      onTickShown: () => this.tickShown(),
      onSort: (key, isNumeric, isMore) => this.sort(key, isNumeric, isMore),
      onSelect: (position, isRange) => this.select(position, isRange),
      onOpen: (row, event) => open(row, event),
      onToggle: (position) => this.toggle(position),
      onHide: (position, how) => this.hide(position, how),
      onPin: (position) => this.togglePin(position),
      onChangeColour: (position) => this.openColours(position),
      onScroll: (from, to) => this.prefetch.scrolledTo(from, to),
      onColumn: (what, key, value) => this.changeColumn(what, key, value),
      onMenu: (head) => this.openMenu(head),
    })
    this.prefetch = new RowPrefetch(() => this.rows, () => this.draw())
    this.bar = new TableBar(element)
    this.side = new ChartsSide(element, {
      search,
      state: this.state,
      selection: this.selection,
      rowAt: (position) => (position < 0 ? undefined : this.rows.row(position)),
      rowCount: () => this.rows.matching,
      onChange: () => this.changed(),
      onMode: (mode) => this.setMode(mode),
    })
    Object.assign(this, makePanels(this))
  }

  start() {
    this.form.addEventListener("submit", (event) => event.preventDefault())
    this.form.elements.q.addEventListener("input", () => this.filterSoon())
    this.form.elements.query.addEventListener("input", () => this.filterSoon())
    this.form.elements.query.addEventListener("written", () => this.filterSoon())
    for (const name of ["clear", "clear-all", "clear-unread"]) {
      this.part(name).addEventListener("click", () => this.clear())
    }
    this.part("unselect").addEventListener("click", () => this.unselect())
    this.part("tick-matching")?.addEventListener("click", () => this.tickMatching())
    this.part("heights").addEventListener("click", (event) => this.setHeight(event.target.closest("button")))
    this.part("nest").addEventListener("click", () => this.nest(this.state.isFlat))
    this.part("show").addEventListener("change", (event) => this.show(event.target.value))
    this.refreshing = setInterval(() => this.refresh(), REFRESH_MS)
    document.addEventListener("visibilitychange", () => this.refresh())
    if (this.state.view && !location.search.includes("view=")) this.write()
    this.draw()
    if (this.isGrouped) this.startGroups()
    else if (this.nested.openIds.length) this.loadShown()
  }

  // Groups embedded in the page are shown at once; their aggregates follow.
  async startGroups() {
    const open = this.state.all("open")
    const first = this.element.querySelector("#first-groups")
    if (!first) return this.runQuery({ open })
    this.groups.begin(JSON.parse(first.textContent), this.state.question, this.state.all("group"), this.blocks.columns, open)
    this.view.found = null
    this.view.rows = new TopRows(this.blocks, this.groups)
    this.draw()
    await Promise.all([this.groups.refresh(), this.rows.load(...this.view.range)])
    this.draw()
  }

  get isGrouped() {
    return this.state.all("group").length > 0
  }

  // Pinned rows and the rows below.
  get rows() {
    return this.view.rows
  }

  // The current columns, chosen by the user or suggested by the server.
  get shown() {
    const keys = this.rows.columns.map(({ key }) => key)
    return { keys, pinned: Math.min(this.state.pinned, keys.length) }
  }

  // User actions

  filterSoon() {
    clearTimeout(this.typing)
    this.search.draw()
    this.typing = setTimeout(() => this.filter(), TYPING_MS)
  }

  filter() {
    clearTimeout(this.typing)
    const fields = FILTERS.filter((name) => name !== "q")
    for (const name of fields) this.state.set(name, this.form.elements[name].value.trim())
    this.state.set("q", this.search.text)
    return this.runQuery()
  }

  // Opens the filter editor with a filter from the search box.
  edit(filter) {
    this.edited = filter
    this.part("query-form").open = true
  }

  takeEdited() {
    const { edited = null } = this
    this.edited = null
    return edited
  }

  clear() {
    for (const name of FILTERS) this.form.elements[name].value = ""
    this.search.clear()
    return this.filter()
  }

  // A second click reverses the order.
  sort(key, isNumeric, isMore = false) {
    this.state.set("sort", ...sorted(isMore ? this.state.all("sort") : this.state.sorts, key, isNumeric, isMore))
    return this.runQuery()
  }

  changeColumn(what, key, value) {
    if (this.state.isCharts) return undefined
    if (what === "group") return this.group([...new Set([...this.state.all("group"), key])])
    if (what === "width") {
      this.state.setWidth(key, value)
      this.write()
      return this.view.arrange()
    }
    const { keys, pinned } = changed(this.shown, what, key, value)
    if (!keys.length) return undefined
    this.state.set("column", ...keys)
    this.state.set("pin", pinned ? String(pinned) : "")
    return this.runQuery({ stays: true })
  }

  resetColumns() {
    for (const name of ["column", "pin", "width"]) this.state.set(name)
    return this.runQuery({ stays: true })
  }

  group(keys) {
    this.state.set("group", ...keys.filter(canGroup))
    return this.runQuery()
  }

  show(name) {
    this.state.set("show", name === "mean" ? "" : name)
    this.write()
    this.draw()
  }

  setHeight(button) {
    if (!button) return
    const top = this.view.element.scrollTop / this.view.rowHeight
    this.state.set("rows", button.value === "28" ? "" : button.value)
    this.write()
    this.view.arrange()
    this.view.element.scrollTop = top * this.view.rowHeight
    this.draw()
  }

  // Opens or closes a group, or a run with children.
  async toggle(position) {
    if (this.isGrouped) this.groups.toggle(this.rows.row(position).group)
    else this.nested.toggle(...this.rows.underTop(position))
    this.keepOpen()
    this.write()
    this.draw()
    await this.loadShown()
  }

  keepOpen() {
    this.state.set("open", ...(this.isGrouped ? this.groups.openQueries : this.nested.openIds))
  }

  async loadShown() {
    await this.rows.load(...this.view.range)
    this.draw()
  }

  nest(isNested) {
    this.state.set("children", isNested ? "" : "flat")
    return this.runQuery()
  }

  // Covers the first rows only; more would have to be fetched.
  get isShownTicked() {
    const { isMatching, ids } = this.selection
    return isMatching || (ids.length > 0 && ids.length >= Math.min(MAX_RANGE, this.rows.matching))
  }

  async tickShown() {
    if (this.isShownTicked) return this.unselect()
    const last = Math.min(MAX_RANGE, this.rows.matching) - 1
    const rows = await this.rowsOf([0, last])
    this.selection.add(rows.map((row) => row.id))
    this.isOffered = true
    this.changed()
  }

  tickMatching() {
    this.selection.tickMatching(this.state.runsQuestion)
    this.changed()
  }

  // Changing a single run ends "all matching" and keeps the individually selected runs.
  leaveMatching() {
    if (!this.selection.endMatching()) return false
    toast(gettext("All matching runs deselected, except those you selected one by one."))
    return true
  }

  async select(position, isRange) {
    const row = this.rows.row(position)
    if (this.leaveMatching() && !isRange && this.selection.place(row?.id) < 0) return this.changed()
    if (isRange) {
      const rows = await this.rowsOf(this.selection.rangeTo(position))
      this.selection.add(rows.map((row) => row.id))
    } else if (row?.id) {
      this.selection.toggle(row.id, position)
    }
    this.changed()
  }

  // Fetches the runs of a row range.
  async rowsOf([from, last]) {
    const to = Math.min(last, from + MAX_RANGE - 1)
    if (to < last) {
      const values = { count: number(MAX_RANGE), all: number(last - from + 1) }
      toast(gettext("Selected the first %(count)s of %(all)s rows.", values))
    }
    await this.rows.load(from, to)
    const rows = Array.from({ length: to - from + 1 }, (_, i) => this.rows.row(from + i))
    return rows.filter((row) => row?.id)
  }

  // Hidden runs keep their color.
  async hide(position, how = {}) {
    const row = this.rows.row(position)
    if (!row?.id) return
    if (this.state.isCharts) {
      if (how.isRange) this.side.extend(await this.rowsOf(this.side.eyes.rangeTo(position)))
      else this.side.press(row, position, how)
      return
    }
    if (how.isAlone) return
    this.leaveMatching()
    if (this.selection.place(row.id) < 0) this.selection.toggle(row.id, position)
    this.selection.hide(row.id, !this.selection.isHidden(row.id))
    this.changed()
  }

  async openColours(position) {
    if (this.side.isGrouped) {
      toast(gettext("Colors show groups. Clear “Group by” to choose the color of a run."))
      return
    }
    const { id } = this.rows.row(position) ?? {}
    const eye = id && this.view.eyeOf(id)
    if (eye?.isOpen) {
      this.colouredRun = id
      const colours = await this.colours()
      colours?.open(eye.slot, this.view.dotAt(position))
    } else if (id) {
      toast(this.state.isCharts ? gettext("Show the run in charts first: only visible runs have a color.") : gettext("Select the run first: only selected runs have a color."))
    }
  }

  // A selected run has the same color in the table and in charts.
  setColour(slot) {
    this.part("colours").hidePopover()
    this.side.eyes.choose(this.colouredRun, slot)
    this.selection.choose(this.colouredRun, slot)
    this.changed()
  }

  // Name of the loaded run with this color slot.
  nameWith(slot) {
    const ids = this.state.isCharts ? this.side.eyes.ids : this.selection.ids
    const id = ids.find((one) => this.view.eyeOf(one).slot === slot)
    return id ? this.view.nameOf(id) ?? gettext("another run") : ""
  }

  async setMode(mode) {
    this.state.set("as", mode)
    this.write()
    this.draw()
    // Charts show runs of all levels.
    if (this.blocks.isFamily) return this.runQuery()
    if (mode) await this.blocks.load(0, SHOWN_AT_FIRST - 1)
    this.draw()
  }

  changed() {
    this.write()
    this.draw()
  }

  // The first pinned run is the reference of the comparison.
  async togglePin(position) {
    const row = this.rows.row(position)
    if (!row?.id) return
    let pinned = this.state.all("top")
    // Pinned runs may have been deleted.
    if (pinned.length >= MAX_ON_TOP) pinned = this.rows.top.map(({ id }) => id)
    const isKept = pinned.includes(row.id)
    if (!isKept && pinned.length >= MAX_ON_TOP) {
      toast(gettext("You can pin at most %(count)s runs. Unpin one first.", { count: MAX_ON_TOP }))
      return
    }
    this.state.set("top", ...(isKept ? pinned.filter((id) => id !== row.id) : [...pinned, row.id]))
    const { column } = this.view.active
    await this.runQuery({ stays: true })
    // Keeps the same row active after it moved.
    this.view.activate(Math.max(0, position + (isKept ? -1 : 1)), column)
  }

  unselect() {
    this.selection.clear()
    this.isOffered = false
    this.write()
    this.draw()
  }

  async openMenu(head) {
    if (this.state.isCharts) return
    const column = this.view.columns.find(({ key }) => key === head.dataset.key)
    const menu = column && (await this.menu())
    menu?.open(head, column, this.view.element)
  }

  choose(what, key) {
    const isNumeric = this.view.columns.find((column) => column.key === key)?.isNumeric
    const step = { left: -1, right: 1 }[what]
    const sort = { ascending: key, descending: `-${key}` }[what]
    if (step) return this.changeColumn("step", key, step)
    if (what === "then") return this.sort(key, isNumeric, true)
    if (!sort) return this.changeColumn(what, key)
    this.state.set("sort", sort)
    return this.runQuery()
  }

  // Deselects deleted runs and selects restored ones.
  done({ gone = [], back = [], isOver = false }) {
    if (isOver) this.unselect()
    this.selection.remove(gone)
    this.selection.add(back)
    return this.runQuery({ stays: true })
  }

  // Updates

  // `stays` keeps the scroll position; `open` lists the expanded groups.
  async runQuery({ stays = false, open = this.groups.openQueries } = {}) {
    this.write()
    // "All matching" does not carry over to another query.
    if (this.selection.question !== this.state.runsQuestion) this.selection.endMatching()
    const [position] = stays && !this.isGrouped ? this.rows.underTop(this.view.range[0]) : [0]
    await this.blocks.setQuery(this.state.question, this.isGrouped ? 0 : this.nested.rootIndex(position))
    if (!this.blocks.mistake) this.nested.setQuery(this.state.question)
    if (this.isGrouped) {
      await this.groups.setQuery(this.state.question, this.state.all("group"), this.blocks.columns, open)
    }
    this.keepOpen()
    if (this.state.isCharts) await this.blocks.load(0, SHOWN_AT_FIRST - 1)
    if (!this.blocks.mistake) this.side.applyQuery()
    const below = this.isGrouped ? this.groups : this.nested
    if (below !== this.rows.below) this.view.found = null
    this.view.rows = new TopRows(this.blocks, below)
    this.isFiltered = this.state.isFiltered
    if (!stays) this.view.toTop()
    if (stays) this.view.arrange()
    this.draw()
    await this.loadShown()
  }

  write() {
    const address = new URL(location)
    const search = this.state.address
    for (const [name, value] of [...this.side.address, ...this.selection.address]) search.append(name, value)
    // Preserves the chart shown in full screen.
    const full = address.searchParams.get("full")
    if (full && this.state.isCharts) search.append("full", full)
    address.search = search
    history.replaceState(history.state, "", address)
  }

  async refresh() {
    if (!this.element.isConnected) return clearInterval(this.refreshing)
    if (document.hidden) return
    const shown = this.rows.underTop(...this.view.range)
    if (this.rows.below === this.nested) {
      await this.nested.refresh(...shown)
    } else {
      this.refreshed = ((this.refreshed ?? 0) + 1) % REFRESHES_BEFORE_GROUPS
      if (this.refreshed === 0) await this.groups.refresh()
      await this.groups.refreshRows(...shown)
    }
    const isFirstSeen = this.rows.below === this.nested && shown[0] < SHOWN_AT_FIRST
    if (this.state.isCharts && !isFirstSeen) await this.blocks.refresh(0, SHOWN_AT_FIRST - 1)
    this.draw()
  }

  draw() {
    const groups = this.rows.below === this.groups ? this.groups : null
    const { blocks, state, isFiltered, selection, isOffered } = this
    if (selection.isMatching || selection.ids.length) this.bulk()
    // The charts panel changes width and columns.
    if (this.side.draw(blocks, this.rows.top)) this.view.found = null
    this.bar.draw({ blocks, groups, state, isFiltered, selection, isOffered, shown: this.side.comparison })
    this.search.draw(blocks.mistake)
    this.view.draw()
    this.columns.draw()
    this.grouping.draw()
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }

  read(id) {
    return JSON.parse(this.element.querySelector(`#${id}`).textContent)
  }
}

function open(row, event) {
  if (event.ctrlKey || event.metaKey) window.open(row.url, "_blank", "noopener")
  else location.assign(row.url)
}
