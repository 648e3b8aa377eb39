// State of the table in the URL. With a saved view, the URL names the view and holds only the
// differences; an empty parameter clears the value of the view.

// Options of the charts next to the list.
const CHART_OPTIONS = ["text", "together", "smoothing", "smoother", "log", "axis", "regex", "over", "logx", "clip", "bare"]
const LAYOUT = "layout"
const PARTS = ["q", "state", "tag", "by", "query", "sort", "column", "pin", "width", "group", "show", "rows", "top", "children", "as", ...CHART_OPTIONS, LAYOUT]
export const FILTERS = ["q", "state", "tag", "by", "query"]
const QUERY_PARTS = [...FILTERS, "sort", "column", "top", "children"]
const CHART_QUERY_PARTS = [...FILTERS, "top", ...CHART_OPTIONS, LAYOUT]
const ZOOM = ["low", "high"]
// Parts of a link that views do not store. Other modules add the selected runs.
const LINK_PARTS = ["open", ...ZOOM]
export const MAX_ON_TOP = 6
const HEIGHTS = ["22", "28", "32"]
const USUAL_HEIGHT = "28"
const SHOWN_OF_GROUPS = { mean: "Mean", lowest: "Lowest", highest: "Highest", best: "Best" }

export class TableState {
  #parts = new Map()
  #kept
  #aside

  // `kept` is the state of the view; `hasDefault` is true if the project has a default view.
  constructor(search, { kept, view, hasDefault }) {
    this.#kept = new URLSearchParams(kept)
    this.view = view
    this.hasDefault = hasDefault
    for (const name of PARTS) {
      const source = search.has(name) ? search : this.#kept
      this.#parts.set(name, source.getAll(name).filter(Boolean))
    }
    this.#aside = new Map(LINK_PARTS.map((name) => [name, search.getAll(name)]))
  }

  get(name) {
    return this.all(name)[0] ?? ""
  }

  all(name) {
    return this.#parts.get(name) ?? this.#aside.get(name) ?? []
  }

  set(name, ...values) {
    const home = this.#parts.has(name) ? this.#parts : this.#aside
    home.set(name, values.filter(Boolean))
  }

  // Restores values from a URL; null restores the value of the view.
  restore(parameters) {
    for (const [name, value] of Object.entries(parameters)) {
      if (this.#parts.has(name) || this.#aside.has(name)) this.set(name, value ?? this.#kept.get(name) ?? "")
    }
  }

  get isFiltered() {
    return FILTERS.some((name) => this.get(name))
  }

  // Whether the table differs from the saved view.
  get differs() {
    return PARTS.some((name) => !this.#matchesView(name))
  }

  get sorts() {
    const sorts = this.all("sort")
    return sorts.length ? sorts : ["-started"]
  }

  get rowHeight() {
    return Number(HEIGHTS.includes(this.get("rows")) ? this.get("rows") : USUAL_HEIGHT)
  }

  get pinned() {
    return Number.parseInt(this.get("pin"), 10) || 0
  }

  get shownOfGroups() {
    return Object.hasOwn(SHOWN_OF_GROUPS, this.get("show")) ? this.get("show") : "mean"
  }

  // Widths by column key. The width comes first, because keys may contain any character.
  get widths() {
    return new Map(
      this.all("width").map((text) => {
        const colon = text.indexOf(":")
        return [text.slice(colon + 1), Number.parseInt(text.slice(0, colon), 10) || 0]
      }),
    )
  }

  // 0 resets to the default width.
  setWidth(key, width) {
    const widths = [...this.widths.set(key, width)].filter(([, size]) => size > 0)
    this.set("width", ...widths.map(([name, size]) => `${size}:${name}`))
  }

  // Query that identifies the runs, without display options.
  get runsQuestion() {
    return String(written(FILTERS.map((name) => [name, this.all(name)])))
  }

  // Query of the row requests.
  get question() {
    return written(QUERY_PARTS.map((name) => [name, name === "children" && this.isCharts ? ["flat"] : this.all(name)]))
  }

  // Row query with grouping.
  get groupedQuestion() {
    return written([...QUERY_PARTS, "group"].map((name) => [name, this.all(name)]))
  }

  // Whether runs of all levels are one list.
  get isFlat() {
    return this.get("children") === "flat"
  }

  // Whether charts are shown next to the list.
  get isCharts() {
    return this.get("as") === "charts"
  }

  // Query of the chart requests, without the runs.
  get chartQuestion() {
    return written(CHART_QUERY_PARTS.map((name) => [name, this.all(name)]))
  }

  get chartOptions() {
    return written([...CHART_OPTIONS, ...ZOOM].map((name) => [name, this.all(name)]))
  }

  // Zoom range of the x-axis; both ends are null without zoom.
  get zoom() {
    const [low, high] = ZOOM.map((name) => Number.parseFloat(this.get(name)))
    return low < high ? { low, high } : { low: null, high: null }
  }

  zoomTo(range) {
    for (const name of ZOOM) this.set(name, range ? String(range[name]) : "")
  }

  // State to store in a saved view; `layout` is the arrangement of the charts that are shown, for
  // an address without one.
  textWith(layout) {
    const all = (name) => (name === LAYOUT && layout && !this.get(LAYOUT) ? [layout] : this.all(name))
    return String(written(PARTS.map((name) => [name, all(name)])))
  }

  get address() {
    const address = written(PARTS.flatMap((name) => this.#entriesOf(name)))
    if (this.view || (this.hasDefault && !String(address))) address.append("view", this.view)
    for (const name of LINK_PARTS) for (const value of this.all(name)) address.append(name, value)
    return address
  }

  #entriesOf(name) {
    if (this.view && this.#matchesView(name)) return []
    const values = this.all(name)
    return [[name, this.view && !values.length ? [""] : values]]
  }

  #matchesView(name) {
    const kept = this.#kept.getAll(name).filter(Boolean)
    const now = this.all(name)
    return kept.length === now.length && kept.every((value, place) => value === now[place])
  }
}

function written(parts) {
  const search = new URLSearchParams()
  for (const [name, values] of parts) for (const value of values) search.append(name, value)
  return search
}
