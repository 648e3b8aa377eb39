// Rows of the runs table by their position, fetched in blocks and kept fresh.
export const BLOCK = 100
const KEPT_BLOCKS = 60

export class RunBlocks {
  #address
  #query
  #blocks = new Map()
  #pending = new Map()

  // The first block came with the page; of a group it is known how many runs it has.
  constructor(address, query, first, matching = 0) {
    this.#address = address
    this.#query = query
    this.matching = matching
    // Rows that somebody keeps on top; the first is what numbers are compared with.
    this.top = []
    if (first) this.#take(first, first.tag)
    // How far this computer's clock is ahead of the server's.
    this.clockAheadMs = 0
    // Whether the newest request was in vain: what is shown may be old.
    this.isAway = false
    // What is wrong with the query, and where.
    this.mistake = first?.mistake ?? null
    // Whether nothing was ever found, as the page came with that mistake.
    this.isUnread = Boolean(this.mistake)
  }

  row(position) {
    const block = this.#blocks.get(Math.floor(position / BLOCK))
    return block?.rows[position % BLOCK]
  }

  // Forget what was found, as something else is asked for; `position` is in sight.
  async ask(query, position = 0) {
    this.#query = query
    for (const { controller } of this.#pending.values()) controller.abort()
    this.#pending.clear()
    // Should this fail: what was found for something else must not stand beside what comes.
    for (const block of this.#blocks.values()) Object.assign(block, { isStale: true, tag: null })
    await this.#fetch(Math.floor(position / BLOCK), { fresh: true })
  }

  // Returns whether some had to be fetched. Those that somebody passes can be left again.
  async load(from, to, { isPassing = false } = {}) {
    const wanted = this.#numbers(from, to).filter((n) => this.#blocks.get(n)?.isStale ?? true)
    await Promise.all(wanted.map((n) => this.#fetch(n, { isPassing })))
    return wanted.length > 0
  }

  // Waits no longer for rows that somebody has passed: all but these.
  leave(from, to) {
    const kept = this.#numbers(from, to)
    for (const [number, { controller, isPassing }] of this.#pending) {
      if (!isPassing || kept.includes(number)) continue
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
      // Others may wait for it, too.
      pending.isPassing &&= isPassing
      return pending.done
    }
    const controller = new AbortController()
    const asked = { controller, isPassing }
    this.#pending.set(number, asked)
    asked.done = this.#read(number, fresh, controller.signal).finally(() => {
      if (this.#pending.get(number) === asked) this.#pending.delete(number)
    })
    return asked.done
  }

  async #read(number, fresh, signal) {
    const block = fresh ? undefined : this.#blocks.get(number)
    // As it is now: what is asked for meanwhile takes its version away.
    const held = block?.tag ? { ...block } : null
    try {
      const response = await fetch(this.#url(number, fresh), { headers: this.#headers(held?.tag), signal })
      this.#readClock(response)
      this.isAway = response.status >= 500
      if (response.status === 401) location.reload() // signed out elsewhere
      if (response.status === 304 && held.matching === this.matching) block.isStale = false
      if (!response.ok) return
      const body = withHeld(await response.json(), held)
      if (signal.aborted) return
      this.mistake = body.mistake ?? null
      // What was found before stays in sight while the query is put right.
      if (this.mistake) return
      this.isUnread = false
      if (fresh) this.#blocks.clear()
      this.#take(body, response.headers.get("ETag"))
    } catch (error) {
      if (error.name === "AbortError") return // something else is asked for meanwhile
      if (!(error instanceof TypeError)) throw error
      this.isAway = true
    }
  }

  #url(number, fresh) {
    const query = new URLSearchParams(this.#query)
    query.set("offset", number * BLOCK)
    // Only the first block follows what runs suggest: all have the same columns.
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
      if (this.#blocks.size <= KEPT_BLOCKS) return
      this.#blocks.delete(number)
    }
  }

  #readClock(response) {
    const moment = Date.parse(response.headers.get("Date") ?? "")
    if (!Number.isNaN(moment)) this.clockAheadMs = Date.now() - moment
  }
}

// In place of a row that was held when it was asked, the server says which one it was.
function withHeld(body, held) {
  const known = held ? [...held.rows, ...held.top] : []
  const whole = (rows) => rows?.map((row) => (typeof row === "number" ? known[row] : row))
  return { ...body, rows: whole(body.rows), top: whole(body.top) }
}

function sameColumns(old, now) {
  return JSON.stringify(old) === JSON.stringify(now)
}
