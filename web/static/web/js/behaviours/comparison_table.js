// Draws the side-by-side table: attributes as rows, runs as columns, and namespaces as a
// tree whose branches fold. Rows of a closed branch are made when somebody opens it.
//
// data-url        where the rows are; JSON: rows, paths, next_offset
// data-chart-url  the page that charts a series, but for its path
// A row is [path, namespace, isMonitoring, cells, isSeries], a cell
// [text, change, isChanged, title].

import { keepInAddress } from "../models/address.js"
import { made as cell } from "../models/elements.js"
import { gettext } from "../texts.js"

// This many attributes are looked at without being asked, a chunk at a time, so that the
// first rows are there at once.
const LOOKED_AT_ONCE = 1_000
// Of many runs fewer attributes: more cells would keep the browser busy.
const CELLS_AT_ONCE = 20_000
// What the agent measured is much: below a stage's name, it waits to be opened.
const DEPTH_OF_STAGES = 1

export default function comparisonTable(element) {
  new ComparisonTable(element).load()
}

class ComparisonTable {
  // A Map, because namespaces are named by strangers.
  groups = new Map()
  offset = 0
  rowCount = 0
  pathCount = 0

  constructor(element) {
    this.element = element
    this.table = this.part("table")
    this.runs = JSON.parse(element.querySelector("#compared-runs").textContent)
    this.table.append(this.head())
    this.part("filter").addEventListener("input", ({ target }) => {
      keepInAddress({ text: target.value.trim() })
      this.filter()
    })
    this.part("more").addEventListener("click", () => this.load())
    this.part("fold").addEventListener("click", () => this.foldAll())
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }

  async load() {
    this.part("more").disabled = true
    const url = new URL(this.element.dataset.url, document.baseURI)
    url.searchParams.set("offset", this.offset)
    const response = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null)
    this.part("more").disabled = false
    this.part("waiting").hidden = true
    this.part("scroll").setAttribute("aria-busy", "false")
    if (!response?.ok) return this.fail()

    const { rows, paths, next_offset } = await response.json()
    for (const row of rows) this.group(row[1], row[2]).rows.push(row)
    this.rowCount += rows.length
    this.pathCount = paths
    this.offset = next_offset ?? paths
    this.part("more").hidden = next_offset === null
    this.part("more-text").textContent = gettext("Look at more of %(count)s attributes", { count: paths })
    this.filter()
    const most = Math.min(LOOKED_AT_ONCE, CELLS_AT_ONCE / this.runs.length)
    if (next_offset !== null && next_offset < most) await this.load()
  }

  // Rows come in the order of the tree, so each branch is appended below its parent.
  group(namespace, isMonitoring) {
    const known = this.groups.get(namespace)
    if (known) return known
    const slash = namespace.lastIndexOf("/")
    const parent = slash < 0 ? null : this.group(namespace.slice(0, slash), isMonitoring)
    const depth = parent ? parent.depth + 1 : 0
    const made = new Group({
      namespace,
      name: namespace.slice(slash + 1),
      parent,
      depth,
      isOpen: !isMonitoring || depth === DEPTH_OF_STAGES,
      columns: this.runs.length + 1,
      chartUrl: this.element.dataset.chartUrl,
    })
    made.button.addEventListener("click", () => {
      made.isOpen = !made.isOpen
      this.filter()
    })
    this.groups.set(namespace, made)
    this.table.append(made.body)
    return made
  }

  filter() {
    const wanted = this.part("filter").value.trim().toLowerCase()
    const groups = [...this.groups.values()]
    for (const group of groups) group.count(wanted)
    // Children come after their parents, so from the end sums are complete.
    for (const group of groups.toReversed()) {
      if (group.parent) group.parent.total += group.total
    }
    for (const group of groups) group.show()

    const shown = groups.reduce((sum, group) => sum + group.own, 0)
    const areOpen = groups.every((group) => group.isOpen)
    this.part("fold-text").textContent = areOpen ? gettext("Close all") : gettext("Open all")
    this.part("count").textContent = gettext("%(count)s of %(all)s attributes", { count: shown, all: this.pathCount })
    const isEmpty = shown === 0 && this.offset >= this.pathCount
    this.table.hidden = isEmpty
    this.part("none").hidden = !isEmpty
    this.say(this.rowCount ? gettext("No path matches") : gettext("These runs do not differ"))
  }

  foldAll() {
    const groups = [...this.groups.values()]
    const isOpen = !groups.every((group) => group.isOpen)
    for (const group of groups) group.isOpen = isOpen
    this.filter()
  }

  // What is there stays; more can be asked for again.
  fail() {
    this.part("none").hidden = false
    this.part("more").hidden = false
    this.part("more-text").textContent = gettext("Try again")
    this.say(gettext("The table could not be loaded"))
  }

  say(text) {
    this.part("none-title").textContent = text
  }

  head() {
    const head = document.createElement("thead")
    const row = head.insertRow()
    row.append(cell("th", "compare-table__path", gettext("Attribute")))
    for (const run of this.runs) row.append(runHeader(run))
    return head
  }
}

class Group {
  rows = []
  own = 0
  total = 0

  constructor({ namespace, name, parent, depth, isOpen, columns, chartUrl }) {
    Object.assign(this, { parent, depth, isOpen, chartUrl })
    this.body = document.createElement("tbody")
    this.button = document.createElement("button")
    this.button.type = "button"
    this.button.className = "compare-table__group"
    this.button.title = namespace
    const label = span("compare-table__namespace", name || (namespace ? gettext("(no name)") : gettext("Without a namespace")))
    this.number = span("muted")
    this.button.append(span("compare-table__arrow"), label, this.number)
    const header = cell("th", "")
    header.scope = "rowgroup"
    header.colSpan = columns
    header.append(this.button)
    this.body.style.setProperty("--depth", depth)
    this.body.insertRow().append(header)
  }

  get isShown() {
    return this.total > 0 && (!this.parent || this.parent.isUnfolded)
  }

  get isUnfolded() {
    return this.isShown && (this.isOpen || this.isSearched)
  }

  count(wanted) {
    this.isSearched = wanted !== ""
    this.isMatch = ([path]) => path.toLowerCase().includes(wanted)
    this.own = this.rows.filter(this.isMatch).length
    this.total = this.own
  }

  show() {
    this.body.hidden = !this.isShown
    const isOpen = this.isUnfolded
    if (isOpen && this.own) this.draw()
    ;[...this.body.rows].slice(1).forEach((element, index) => {
      element.hidden = !isOpen || !this.isMatch(this.rows[index])
    })
    this.button.setAttribute("aria-expanded", isOpen)
    this.number.textContent = this.total
  }

  draw() {
    for (const [path, , , cells, isSeries] of this.rows.slice(this.body.rows.length - 1)) {
      const row = this.body.insertRow()
      const header = cell("th", "compare-table__path")
      header.scope = "row"
      const name = cell(isSeries ? "a" : "span", "clip", path.slice(path.lastIndexOf("/") + 1) || path)
      name.title = isSeries ? gettext("%(path)s: show its chart", { path }) : path
      if (isSeries) name.href = `${this.chartUrl}&text=${encodeURIComponent(path)}`
      header.append(name)
      row.append(header, ...cells.map(valueCell))
    }
  }
}

function runHeader(run) {
  const header = cell("th", "compare-table__run")
  const colour = span(`run-colour run-colour--${run.colour}`)
  if (run.round) colour.classList.add(`run-colour--round-${run.round}`)
  const link = document.createElement("a")
  link.href = run.url
  link.className = "clip"
  link.title = run.project ? `${run.project} / ${run.name}` : run.name
  if (run.project) link.append(span("muted compare-run__project", `${run.project} /`), " ")
  link.append(run.name)
  header.append(colour, link)
  if (run.reference) header.append(span("chip", "reference"))
  return header
}

function valueCell([text, change, isChanged, title]) {
  const element = cell("td", "")
  if (isChanged) element.classList.add("compare-table__changed")
  const value = span("compare-table__value", text ?? "absent")
  if (text === null) value.classList.add("muted")
  value.title = title || text || ""
  element.append(value)
  if (change) element.append(span("compare-table__delta", change))
  return element
}

function span(className, text = "") {
  return cell("span", className, text)
}
