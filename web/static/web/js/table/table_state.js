// What the table shows, as the address says it. Where a view is open, the address names
// it and says only what differs; a part that is there and empty takes the view's away.
// How the charts beside the list are drawn.
const CHART_OPTIONS = ["text", "together", "smoothing", "smoother", "log", "axis", "regex", "over", "logx", "clip", "bare"]
const PARTS = ["q", "state", "tag", "by", "query", "sort", "column", "pin", "width", "group", "show", "rows", "top", "as", ...CHART_OPTIONS]
export const FILTERS = ["q", "state", "tag", "by", "query"]
const ASKED = [...FILTERS, "sort", "column", "top"]
const LAYOUT = "layout"
const ASKED_OF_CHARTS = [...FILTERS, "top", ...CHART_OPTIONS, LAYOUT]
const ZOOM = ["low", "high"]
// What belongs to a link, and not to a view; runs that are picked are added by others.
const ASIDE = ["open", ...ZOOM, LAYOUT]
export const MAX_ON_TOP = 6
const HEIGHTS = ["22", "28", "32"]
const USUAL_HEIGHT = "28"
const SHOWN_OF_GROUPS = { mean: "Mean", lowest: "Lowest", highest: "Highest", best: "Best" }

export class TableState {
  #parts = new Map()
  #kept
  #aside

  // `kept` is the state of the view; `hasDefault` says that a bare address has one.
  constructor(search, { kept, view, hasDefault }) {
    this.#kept = new URLSearchParams(kept)
    this.view = view
    this.hasDefault = hasDefault
    for (const name of PARTS) {
      const source = search.has(name) ? search : this.#kept
      this.#parts.set(name, source.getAll(name).filter(Boolean))
    }
    this.#aside = new Map(ASIDE.map((name) => [name, search.getAll(name)]))
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

  // What an address said by these names; null: what the view says.
  takeBack(said) {
    for (const [name, value] of Object.entries(said)) {
      if (this.#parts.has(name) || this.#aside.has(name)) this.set(name, value ?? this.#kept.get(name) ?? "")
    }
  }

  get isFiltered() {
    return FILTERS.some((name) => this.get(name))
  }

  // Whether something else is shown than the view says.
  get differs() {
    return PARTS.some((name) => !this.#isKept(name))
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

  // By the column's key; the width stands before the key, which may hold anything.
  get widths() {
    return new Map(
      this.all("width").map((text) => {
        const colon = text.indexOf(":")
        return [text.slice(colon + 1), Number.parseInt(text.slice(0, colon), 10) || 0]
      }),
    )
  }

  // 0 is the usual width.
  setWidth(key, width) {
    const widths = [...this.widths.set(key, width)].filter(([, size]) => size > 0)
    this.set("width", ...widths.map(([name, size]) => `${size}:${name}`))
  }

  // Which runs are asked for, whatever is shown of them.
  get runsQuestion() {
    return String(written(FILTERS.map((name) => [name, this.all(name)])))
  }

  // What the server is asked for.
  get question() {
    return written(ASKED.map((name) => [name, this.all(name)]))
  }

  // The same, put together as the table has it.
  get groupedQuestion() {
    return written([...ASKED, "group"].map((name) => [name, this.all(name)]))
  }

  // Whether charts stand beside a list of the runs.
  get isCharts() {
    return this.get("as") === "charts"
  }

  // What the charts are asked for, besides their runs.
  get chartQuestion() {
    return written(ASKED_OF_CHARTS.map((name) => [name, this.all(name)]))
  }

  get chartOptions() {
    return written([...CHART_OPTIONS, ...ZOOM].map((name) => [name, this.all(name)]))
  }

  // The part of their axis that charts show; both ends are null if that is all of it.
  get zoom() {
    const [low, high] = ZOOM.map((name) => Number.parseFloat(this.get(name)))
    return low < high ? { low, high } : { low: null, high: null }
  }

  zoomTo(range) {
    for (const name of ZOOM) this.set(name, range ? String(range[name]) : "")
  }

  // What a view would keep.
  get text() {
    return String(written(PARTS.map((name) => [name, this.all(name)])))
  }

  get address() {
    const address = written(PARTS.flatMap((name) => this.#said(name)))
    if (this.view || (this.hasDefault && !String(address))) address.append("view", this.view)
    for (const name of ASIDE) for (const value of this.all(name)) address.append(name, value)
    return address
  }

  #said(name) {
    if (this.view && this.#isKept(name)) return []
    const values = this.all(name)
    return [[name, this.view && !values.length ? [""] : values]]
  }

  #isKept(name) {
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
