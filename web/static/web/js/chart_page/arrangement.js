// How somebody arranged the charts of a project's runs: web/pages/charts/arrangement.py in the
// browser. A chart is known by the paths of its lines, written as JSON.

// The server draws no more lines in one chart.
export const MAX_LINES = 50

export class Arrangement {
  constructor(body = {}) {
    this.pinned = keys(body.pinned)
    this.joined = keys(body.joined)
    this.log = new Set(keys(body.log))
    this.folded = new Set(body.folded)
    this.unfolded = new Set(body.unfolded)
    this.sizes = new Map((body.sizes ?? []).map(([key, ...size]) => [JSON.stringify(key), size]))
    this.size = body.size || "medium"
    this.panels = body.panels ?? []
  }

  // What is not as it is for everybody.
  get body() {
    const paths = (some) => [...some].map((key) => JSON.parse(key))
    const described = {
      pinned: paths(this.pinned),
      joined: paths(this.joined),
      folded: [...this.folded].sort(),
      unfolded: [...this.unfolded].sort(),
      sizes: [...this.sizes].map(([key, size]) => [JSON.parse(key), ...size]),
      log: paths([...this.log].sort()),
      panels: this.panels,
      size: this.size === "medium" ? "" : this.size,
    }
    return Object.fromEntries(Object.entries(described).filter(([, value]) => value.length))
  }

  isPinned(key) {
    return this.pinned.includes(key)
  }

  pin(key, isPinned) {
    this.pinned = this.pinned.filter((other) => other !== key)
    if (isPinned) this.pinned.push(key)
  }

  // Returns the key of the chart, whose lines stand in the order of `paths`, each once;
  // null where these are too many for one.
  join(paths) {
    const each = [...new Set(paths)]
    if (each.length > MAX_LINES) return null
    const key = JSON.stringify(each)
    if (!this.joined.includes(key)) this.joined.push(key)
    return key
  }

  split(key) {
    this.joined = this.joined.filter((other) => other !== key)
    this.pin(key, false)
    this.log.delete(key)
    this.sizes.delete(key)
  }

  fold(section, isOpen, isOpenByItself) {
    this.folded.delete(section)
    this.unfolded.delete(section)
    if (isOpen !== isOpenByItself) (isOpen ? this.unfolded : this.folded).add(section)
  }

  setLog(key, isLog) {
    isLog ? this.log.add(key) : this.log.delete(key)
  }

  resize(key, size) {
    size ? this.sizes.set(key, size) : this.sizes.delete(key)
  }
}

function keys(list = []) {
  return list.map((paths) => JSON.stringify(paths))
}
