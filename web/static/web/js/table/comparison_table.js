// Renders the side-by-side table: attributes as rows, runs as columns, namespaces as a
// collapsible tree. Rows of a collapsed branch are created on first expansion.
//
// data-url        JSON endpoint with rows, paths, next_offset, live
// data-chart-url  chart page, without the path of the series
// data-live       "true" polls the loaded rows
// A row is [path, namespace, isMonitoring, cells, isSeries]; a cell is
// [text, change, isChanged, title]. A time replaces the text with { time }.

import { setUrlParameters } from "../core/page_address.js"
import { full, toSecond } from "../core/clock.js"
import { createElement as cell } from "../core/elements.js"
import { gettext } from "../core/texts.js"

// Attributes loaded on page load, in chunks, so that the first rows appear at once.
const INITIAL_ROWS = 1_000
// Limits the initial load when many runs are compared.
const INITIAL_CELLS = 20_000
// Monitoring namespaces start collapsed below the stage.
const DEPTH_OF_STAGES = 1
const REFRESH_MS = 10_000
// The server's maximum page size.
const PAGE_SIZE = 2_000

export default function comparisonTable(element) {
  const table = new ComparisonTable(element)
  table.load()
  const waiting = setInterval(() => {
    if (!element.isConnected) clearInterval(waiting)
    else if (!document.hidden && element.dataset.live === "true") table.refresh()
  }, REFRESH_MS)
}

class ComparisonTable {
  // A Map, because user-defined namespaces may be called `constructor`.
  groups = new Map()
  isLoading = false
  // Incremented by every manual load; discards outdated responses.
  loads = 0
  // Responses and their ETags by offset and limit.
  responses = new Map()
  offset = 0
  rowCount = 0
  pathCount = 0

  constructor(element) {
    this.element = element
    this.table = this.part("table")
    this.runs = JSON.parse(element.querySelector("#compared-runs").textContent)
    this.table.append(this.head())
    this.part("filter").addEventListener("input", ({ target }) => {
      setUrlParameters({ text: target.value.trim() })
      this.filter()
    })
    this.part("more").addEventListener("click", () => this.load())
    this.part("fold").addEventListener("click", () => this.foldAll())
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }

  async load() {
    this.loads += 1
    this.isLoading = true
    this.part("more").disabled = true
    const response = await this.fetchPage(this.offset)
    this.isLoading = false
    this.part("more").disabled = false
    this.part("waiting").hidden = true
    this.part("scroll").setAttribute("aria-busy", "false")
    if (!response?.ok) return this.fail()

    const { rows, paths, next_offset } = await response.json()
    for (const row of rows) this.group(row[1], row[2]).rows.push(row)
    this.rowCount += rows.length
    this.updateProgress(paths, next_offset)
    this.filter()
    const limit = Math.min(INITIAL_ROWS, INITIAL_CELLS / this.runs.length)
    if (next_offset !== null && next_offset < limit) await this.load()
  }

  updateProgress(paths, next) {
    this.pathCount = paths
    this.offset = next ?? paths
    this.part("more").hidden = next === null
    this.part("more-text").textContent = gettext("Show more of %(count)s attributes", { count: paths })
  }

  fetchPage(offset, limit = "", version = null) {
    const url = new URL(this.element.dataset.url, document.baseURI)
    url.searchParams.set("offset", offset)
    if (limit) url.searchParams.set("limit", limit)
    const headers = { Accept: "application/json", ...(version && { "If-None-Match": version }) }
    return fetch(url, { headers }).catch(() => null)
  }

  // Polls all loaded rows. Expansion, filter and scroll position stay, and only changed cells
  // are replaced.
  async refresh() {
    if (this.isLoading || !this.offset) return
    this.isLoading = true
    const { loads } = this
    const answers = await this.refetch()
    if (loads !== this.loads) return
    this.isLoading = false
    if (!answers) return
    const last = answers.at(-1)
    if (!last.live) this.element.dataset.live = "false"
    this.replaceRows(answers.flatMap(({ rows }) => rows))
    this.updateProgress(last.paths, last.next_offset)
    this.filter()
  }

  // Returns null if nothing has changed or a request failed.
  async refetch() {
    const { offset: end, loads } = this
    const isWhole = end >= this.pathCount
    let isNew = false
    const answers = []
    // Stored all or none: a response that was not rendered must count as new next time.
    const responses = new Map()
    for (let offset = 0; offset < end; offset += PAGE_SIZE) {
      const isLast = offset + PAGE_SIZE >= end
      // A fully loaded table also requests attributes added since.
      const limit = isWhole || !isLast ? PAGE_SIZE : end - offset
      const key = `${offset} ${limit}`
      const cached = this.responses.get(key)
      const response = await this.fetchPage(offset, limit, cached?.version)
      if (response?.status !== 304 && !response?.ok) return null
      const answer = response.ok ? await response.json() : cached.answer
      responses.set(key, { answer, version: response.headers.get("ETag") ?? cached.version })
      isNew ||= response.ok
      answers.push(answer)
    }
    if (loads !== this.loads) return null
    this.responses = responses
    return isNew ? answers : null
  }

  replaceRows(rows) {
    const former = this.groups
    const placed = new Map()
    this.groups = new Map()
    for (const row of rows) {
      const group = this.group(row[1], row[2], former)
      if (!placed.has(group)) placed.set(group, [])
      placed.get(group).push(row)
    }
    for (const [name, group] of former) if (!this.groups.has(name)) group.body.remove()
    let index = 0
    for (const group of this.groups.values()) {
      group.replaceRows(placed.get(group) ?? [])
      const there = this.table.tBodies[index]
      if (there !== group.body) this.table.insertBefore(group.body, there ?? null)
      index += 1
    }
    this.rowCount = rows.length
  }

  // Rows arrive in tree order, so each branch is appended below its parent.
  group(namespace, isMonitoring, former = new Map()) {
    const existing = this.groups.get(namespace)
    if (existing) return existing
    const slash = namespace.lastIndexOf("/")
    const parent = slash < 0 ? null : this.group(namespace.slice(0, slash), isMonitoring, former)
    if (former.has(namespace)) {
      this.groups.set(namespace, former.get(namespace))
      return former.get(namespace)
    }
    const depth = parent ? parent.depth + 1 : 0
    const group = new Group({
      namespace,
      name: namespace.slice(slash + 1),
      parent,
      depth,
      isOpen: !isMonitoring || depth === DEPTH_OF_STAGES,
      columns: this.runs.length + 1,
      chartUrl: this.element.dataset.chartUrl,
    })
    group.button.addEventListener("click", () => {
      group.isOpen = !group.isOpen
      this.filter()
    })
    this.groups.set(namespace, group)
    this.table.append(group.body)
    return group
  }

  filter() {
    const searched = this.part("filter").value.trim().toLowerCase()
    const groups = [...this.groups.values()]
    for (const group of groups) group.count(searched)
    // Children follow their parents, so the reverse order completes each sum.
    for (const group of groups.toReversed()) {
      if (group.parent) group.parent.total += group.total
    }
    for (const group of groups) group.show()

    const shown = groups.reduce((sum, group) => sum + group.own, 0)
    const areOpen = groups.every((group) => group.isOpen)
    this.part("fold-text").textContent = areOpen ? gettext("Collapse all") : gettext("Expand all")
    this.part("count").textContent = gettext("%(count)s of %(all)s attributes", { count: shown, all: this.pathCount })
    const isEmpty = shown === 0 && this.offset >= this.pathCount
    this.table.hidden = isEmpty
    this.part("none").hidden = !isEmpty
    this.showMessage(this.rowCount ? gettext("No matching paths") : gettext("No differences between these runs"))
  }

  foldAll() {
    const groups = [...this.groups.values()]
    const isOpen = !groups.every((group) => group.isOpen)
    for (const group of groups) group.isOpen = isOpen
    this.filter()
  }

  // Keeps the loaded rows and offers a retry.
  fail() {
    this.part("none").hidden = false
    this.part("more").hidden = false
    this.part("more-text").textContent = gettext("Try again")
    this.showMessage(gettext("The table could not be loaded"))
  }

  showMessage(text) {
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
    const label = span("compare-table__namespace", name || (namespace ? gettext("(no name)") : gettext("No namespace")))
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

  count(searched) {
    this.isSearched = searched !== ""
    this.isMatch = ([path]) => path.toLowerCase().includes(searched)
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
    for (const row of this.rows.slice(this.body.rows.length - 1)) this.body.append(this.drawn(row))
  }

  drawn([path, , , cells, isSeries]) {
    const row = cell("tr", "")
    const header = cell("th", "compare-table__path")
    header.scope = "row"
    const name = cell(isSeries ? "a" : "span", "clip", path.slice(path.lastIndexOf("/") + 1) || path)
    name.title = isSeries ? gettext("%(path)s: show chart", { path }) : path
    if (isSeries) name.href = `${this.chartUrl}&text=${encodeURIComponent(path)}`
    header.append(name)
    row.append(header, ...cells.map(valueCell))
    return row
  }

  // Replaces the rows and updates rendered ones in place.
  replaceRows(rows) {
    const drawn = [...this.body.rows].slice(1)
    const known = new Map(drawn.map((element, index) => [this.rows[index][0], { element, row: this.rows[index] }]))
    this.rows = rows
    if (!drawn.length) return
    let above = this.body.rows[0]
    for (const row of rows) {
      const former = known.get(row[0])
      known.delete(row[0])
      const element = former?.element ?? this.drawn(row)
      if (former) changeCells(element, former.row[3], row[3])
      if (above.nextSibling !== element) above.after(element)
      above = element
    }
    for (const { element } of known.values()) element.remove()
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
  if (run.project) link.append(span("muted compare-run__project", `${run.project} /`), " ", span("clip", run.name))
  else link.append(run.name)
  header.append(colour, link)
  if (run.reference) header.append(span("chip", "reference"))
  return header
}

function valueCell([content, change, isChanged, hint]) {
  const [text, title] = content?.time === undefined ? [content, hint] : [toSecond(content.time), full(content.time)]
  const element = cell("td", "")
  if (isChanged) element.classList.add("compare-table__changed")
  const value = span("compare-table__value", text ?? gettext("not set"))
  if (text === null) value.classList.add("muted")
  value.title = title || text || ""
  element.append(value)
  if (change) element.append(span("compare-table__delta", change))
  return element
}

function changeCells(element, before, cells) {
  cells.forEach((each, index) => {
    if (JSON.stringify(each) !== JSON.stringify(before[index])) element.cells[index + 1].replaceWith(valueCell(each))
  })
}

function span(className, text = "") {
  return cell("span", className, text)
}
