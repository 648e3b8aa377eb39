// The user's arrangement of a project's charts; counterpart of web/pages/charts/arrangement.py. A
// chart is identified by the paths of its lines, as JSON.

// The server's limit per chart.
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

  // Only the differences from the default.
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

  // Returns the key of a chart with these paths, in order and without duplicates; null if there are
  // too many.
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
