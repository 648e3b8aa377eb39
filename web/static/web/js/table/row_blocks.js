// Rows of the runs table by position, fetched in blocks and polled.
export const BLOCK = 100
const MAX_BLOCKS = 60

export class RunBlocks {
  #address
  #query
  #blocks = new Map()
  #pending = new Map()

  // The first block is embedded in the page. The number of runs of a group is known in advance.
  constructor(address, query, first, matching = 0) {
    this.#address = address
    this.#query = query
    this.matching = matching
    // Pinned rows; the first is the reference of the comparison.
    this.top = []
    if (first) this.#take(first, first.tag)
    // Offset of the local clock from the server clock.
    this.clockAheadMs = 0
    // The last request failed, so rows may be outdated.
    this.isOffline = false
    // The error of the query and its position.
    this.mistake = first?.mistake ?? null
    // The page was loaded with an invalid query, so nothing has been shown yet.
    this.isUnread = Boolean(this.mistake)
  }

  // The number of matching runs of all levels.
  get runCount() {
    return this.isNested ? this.total : this.matching
  }

  // The fetched rows with their positions.
  *loaded() {
    for (const [number, { rows }] of this.#blocks) {
      for (const [place, row] of rows.entries()) yield [number * BLOCK + place, row]
    }
  }

  row(position) {
    const block = this.#blocks.get(Math.floor(position / BLOCK))
    return block?.rows[position % BLOCK]
  }

  // Loads the rows of another query; `position` is in view.
  async setQuery(query, position = 0) {
    this.#query = query
    for (const { controller } of this.#pending.values()) controller.abort()
    this.#pending.clear()
    // If the request fails, blocks of different queries must not mix.
    for (const block of this.#blocks.values()) Object.assign(block, { isStale: true, tag: null })
    await this.#fetch(Math.floor(position / BLOCK), { fresh: true })
  }

  // Returns whether a block was fetched. Loads with `isPassing` can be canceled.
  async load(from, to, { isPassing = false } = {}) {
    const missing = this.#numbers(from, to).filter((n) => this.#blocks.get(n)?.isStale ?? true)
    await Promise.all(missing.map((n) => this.#fetch(n, { isPassing })))
    return missing.length > 0
  }

  // Cancels prefetches outside this range.
  cancelOutside(from, to) {
    const inRange = this.#numbers(from, to)
    for (const [number, { controller, isPassing }] of this.#pending) {
      if (!isPassing || inRange.includes(number)) continue
      controller.abort()
      this.#pending.delete(number)
    }
  }

  async refresh(from, to) {
    await Promise.all(this.#numbers(from, to).map((n) => this.#fetch(n)))
  }

  #numbers(from, to) {
    const first = Math.floor(Math.max(0, from) / BLOCK)
    const last = Math.floor(Math.max(0, Math.min(to, this.matching - 1)) / BLOCK)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  }

  #fetch(number, { fresh = false, isPassing = false } = {}) {
    const pending = this.#pending.get(number)
    if (pending) {
      // Another caller may also wait for this block.
      pending.isPassing &&= isPassing
      return pending.done
    }
    const controller = new AbortController()
    const entry = { controller, isPassing }
    this.#pending.set(number, entry)
    entry.done = this.#read(number, fresh, controller.signal).finally(() => {
      if (this.#pending.get(number) === entry) this.#pending.delete(number)
    })
    return entry.done
  }

  async #read(number, fresh, signal) {
    const block = fresh ? undefined : this.#blocks.get(number)
    // A copy, because a new query clears the tag.
    const cached = block?.tag ? { ...block } : null
    try {
      const response = await fetch(this.#url(number, fresh), { headers: this.#headers(cached?.tag), signal })
      this.#readClock(response)
      this.isOffline = response.status >= 500
      if (response.status === 401) location.reload() // signed out in another tab
      if (response.status === 304 && cached.matching === this.matching) block.isStale = false
      if (!response.ok) return
      const body = withCached(await response.json(), cached)
      if (signal.aborted) return
      this.mistake = body.mistake ?? null
      // Keeps the previous rows while the query is invalid.
      if (this.mistake) return
      this.isUnread = false
      if (fresh) this.#blocks.clear()
      this.#take(body, response.headers.get("ETag"))
    } catch (error) {
      if (error.name === "AbortError") return // replaced by another query
      if (!(error instanceof TypeError)) throw error
      this.isOffline = true
    }
  }

  #url(number, fresh) {
    const query = new URLSearchParams(this.#query)
    query.set("offset", number * BLOCK)
    // Only the first block uses suggested columns; the others repeat its columns.
    if (number > 0 && !fresh && !query.has("column")) {
      for (const { key } of this.columns) query.append("column", key)
    }
    return `${this.#address}?${query}`
  }

  #headers(tag) {
    const headers = { Accept: "application/json" }
    if (tag) headers["If-None-Match"] = tag
    return headers
  }

  #take(body, tag) {
    const hasMoved = this.matching !== undefined && this.matching !== body.matching
    this.total = body.total
    this.matching = body.matching
    this.top = body.top
    // Whether any runs of the project have children, and whether these rows are one level.
    this.isFamily = body.family
    this.isNested = body.nested
    if (!sameColumns(this.columns, body.columns)) {
      this.columns = body.columns
      this.#blocks.clear()
    }
    if (hasMoved) for (const block of this.#blocks.values()) block.isStale = true

    const number = body.offset / BLOCK
    this.#blocks.delete(number)
    this.#blocks.set(number, { rows: body.rows, top: body.top, matching: body.matching, tag, isStale: false })
    this.#forgetOldest()
  }

  #forgetOldest() {
    for (const number of this.#blocks.keys()) {
      if (this.#blocks.size <= MAX_BLOCKS) return
      this.#blocks.delete(number)
    }
  }

  #readClock(response) {
    const moment = Date.parse(response.headers.get("Date") ?? "")
    if (!Number.isNaN(moment)) this.clockAheadMs = Date.now() - moment
  }
}

// The server sends the index of each unchanged row; replaces it with the cached row.
function withCached(body, cached) {
  const cachedRows = cached ? [...cached.rows, ...cached.top] : []
  const resolve = (rows) => rows?.map((row) => (typeof row === "number" ? cachedRows[row] : row))
  return { ...body, rows: resolve(body.rows), top: resolve(body.top) }
}

function sameColumns(old, current) {
  return JSON.stringify(old) === JSON.stringify(current)
}
