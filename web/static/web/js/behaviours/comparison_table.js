// Draws the side-by-side table: attributes as rows, runs as columns, a body for each
// namespace. Rows of a closed namespace are made when somebody opens it.
//
// data-url    where the rows are; JSON: rows, paths, next_offset
// A row is [path, namespace, isMonitoring, cells], a cell [text, change, isChanged, title].

// This many attributes are looked at without being asked, a chunk at a time, so that the
// first rows are there at once.
const LOOKED_AT_ONCE = 1_000

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
    this.part("filter").addEventListener("input", () => this.filter())
    this.part("more").addEventListener("click", () => this.load())
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }

  async load() {
    this.part("more").disabled = true
    const url = new URL(this.element.dataset.url, document.baseURI)
    url.searchParams.set("offset", this.offset)
    const response = await fetch(url, { headers: { Accept: "application/json" } })
    if (!response.ok) return this.say("The table could not be loaded. Reload the page.")

    const { rows, paths, next_offset } = await response.json()
    for (const row of rows) this.add(row)
    this.rowCount += rows.length
    this.pathCount = paths
    this.offset = next_offset ?? paths
    this.part("more").disabled = false
    this.part("more").hidden = next_offset === null
    this.part("more-text").textContent = `Look at more of ${paths} attributes`
    this.filter()
    if (next_offset !== null && next_offset < LOOKED_AT_ONCE) await this.load()
  }

  add(row) {
    const [, namespace, isMonitoring] = row
    let group = this.groups.get(namespace)
    if (!group) {
      group = new Group(namespace, isMonitoring, this.runs)
      this.groups.set(namespace, group)
      this.table.append(group.body)
    }
    group.rows.push(row)
  }

  filter() {
    const wanted = this.part("filter").value.trim().toLowerCase()
    let shown = 0
    for (const group of this.groups.values()) shown += group.show(wanted)

    this.part("count").textContent = `${shown} of ${this.pathCount} attributes`
    const isEmpty = shown === 0 && this.offset >= this.pathCount
    this.table.hidden = isEmpty
    this.part("none").hidden = !isEmpty
    this.say(this.rowCount ? "No path matches" : "These runs do not differ")
  }

  say(text) {
    this.part("none-title").textContent = text
  }

  head() {
    const head = document.createElement("thead")
    const row = head.insertRow()
    row.append(cell("th", "compare-table__path", "Attribute"))
    for (const run of this.runs) {
      const header = cell("th", "compare-table__run")
      const colour = span(`run-colour run-colour--${run.colour}`)
      if (run.second) colour.classList.add("run-colour--dashed")
      const link = document.createElement("a")
      link.href = run.url
      link.className = "clip"
      link.title = link.textContent = run.name
      header.append(colour, link)
      if (run.reference) header.append(span("chip", "reference"))
      row.append(header)
    }
    return head
  }
}

class Group {
  rows = []
  isDrawn = 0

  constructor(namespace, isClosed, runs) {
    this.runs = runs
    this.isOpen = !isClosed
    this.body = document.createElement("tbody")
    this.button = document.createElement("button")
    this.button.type = "button"
    this.button.className = "compare-table__group"
    this.name = span("compare-table__namespace", namespace || "Without a namespace")
    this.count = span("muted")
    this.button.append(span("compare-table__arrow"), this.name, this.count)
    this.button.addEventListener("click", () => this.toggle())
    const header = cell("th", "")
    header.scope = "rowgroup"
    header.colSpan = runs.length + 1
    header.append(this.button)
    this.body.insertRow().append(header)
  }

  toggle() {
    this.isOpen = !this.isOpen
    this.show(this.wanted)
  }

  // Returns how many rows match, whether the namespace is open or not.
  show(wanted) {
    this.wanted = wanted
    const isMatch = ([path]) => path.toLowerCase().includes(wanted)
    const matching = this.rows.filter(isMatch).length
    const isOpen = this.isOpen || wanted !== ""
    if (isOpen && matching) this.draw()

    this.drawn().forEach((element, index) => {
      element.hidden = !isOpen || !isMatch(this.rows[index])
    })
    this.body.hidden = matching === 0
    this.button.setAttribute("aria-expanded", isOpen)
    this.count.textContent = matching
    return matching
  }

  drawn() {
    return [...this.body.rows].slice(1)
  }

  draw() {
    for (const [path, , , cells] of this.rows.slice(this.body.rows.length - 1)) {
      const row = this.body.insertRow()
      const header = cell("th", "compare-table__path")
      header.scope = "row"
      const name = span("clip", path.slice(path.lastIndexOf("/") + 1) || path)
      name.title = path
      header.append(name)
      row.append(header, ...cells.map(valueCell))
    }
  }
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

function cell(tag, className, text = "") {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

function span(className, text = "") {
  return cell("span", className, text)
}
