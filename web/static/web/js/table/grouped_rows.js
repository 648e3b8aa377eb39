// Rows of a grouped table: one row per group, followed by its runs if it is expanded. Runs are
// fetched in blocks.
import { RunBlocks } from "./row_blocks.js"

export class GroupedRows {
  #addresses
  #question
  #tag = null
  #open = new Map() // group query → RunBlocks of the expanded group
  #starts = [] // row position of each group

  constructor(addresses) {
    this.#addresses = addresses
    this.groups = []
    this.columns = []
    this.keys = []
    this.matching = 0
    this.runCount = 0
    this.isCut = false
    this.isOffline = false
    this.mistake = null
  }

  get openQueries() {
    return [...this.#open.keys()]
  }

  get clockAheadMs() {
    return Math.max(0, ...[...this.#open.values()].map((blocks) => blocks.clockAheadMs))
  }

  // Starts with the groups embedded in the page; their aggregates are fetched later.
  begin(first, question, groups, columns, open) {
    this.#prepare(question, groups, columns)
    this.#take(first)
    this.#reopen(open)
  }

  // `columns` are the columns of the run rows.
  async setQuery(question, groups, columns, open) {
    this.#prepare(question, groups, columns)
    await this.refresh()
    this.#reopen(open)
  }

  #prepare(question, groups, columns) {
    this.#question = new URLSearchParams(question)
    this.#question.delete("column")
    // Pinned rows come with the ungrouped table.
    this.#question.delete("top")
    for (const { key } of columns) this.#question.append("column", key)
    this.columns = columns
    this.keys = groups
    this.#tag = null
    this.#open.clear()
  }

  #reopen(open) {
    for (const group of this.groups) if (open.includes(group.query)) this.#begin(group)
    this.#place()
  }

  // Refreshed rarely, because the server aggregates all matching runs.
  async refresh() {
    const requested = this.#question
    const query = new URLSearchParams(requested)
    for (const key of this.keys) query.append("group", key)
    const headers = { Accept: "application/json" }
    if (this.#tag) headers["If-None-Match"] = this.#tag
    try {
      const response = await fetch(`${this.#addresses.groups}?${query}`, { headers })
      if (requested !== this.#question) return
      this.isOffline = response.status >= 500
      if (!response.ok) return
      this.#tag = response.headers.get("ETag")
      const body = await response.json()
      this.mistake = body.mistake ?? null
      if (this.mistake) return
      this.#take(body)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.isOffline = true
    }
  }

  #take(body) {
    this.groups = body.groups.map((group) => ({ ...group, numbers: byKey(body, group.numbers) }))
    this.isCut = body.is_cut
    this.runCount = body.matching
    this.#place()
  }

  row(position) {
    const { group, within } = this.#at(position)
    if (!group) return undefined
    return within < 0 ? { group, isOpen: this.#open.has(group.query) } : this.#open.get(group.query)?.row(within)
  }

  toggle(group) {
    if (!group.query) return
    if (this.#open.has(group.query)) this.#open.delete(group.query)
    else this.#begin(group)
    this.#place()
  }

  async load(from, to, how) {
    const isFetched = await Promise.all(this.#each(from, to, (blocks, low, high) => blocks.load(low, high, how)))
    this.#place()
    return isFetched.includes(true)
  }

  cancelOutside(from, to) {
    for (const [place, group] of this.groups.entries()) {
      const first = this.#starts[place] + 1
      this.#open.get(group.query)?.cancelOutside(from - first, to - first)
    }
  }

  async refreshRows(from, to) {
    await Promise.all(this.#each(from, to, (blocks, low, high) => blocks.refresh(low, high)))
    this.#place()
  }

  #begin(group) {
    const query = new URLSearchParams(this.#question)
    query.append("within", group.query)
    this.#open.set(group.query, new RunBlocks(this.#addresses.page, query, null, group.count))
  }

  // Calls `load` for each expanded group within the range.
  #each(from, to, load) {
    const loads = []
    for (const [place, group] of this.groups.entries()) {
      const blocks = this.#open.get(group.query)
      const first = this.#starts[place] + 1
      const low = Math.max(from, first) - first
      const high = Math.min(to, first + (blocks?.matching ?? 0) - 1) - first
      if (blocks && low <= high) loads.push(load(blocks, low, high))
    }
    return loads
  }

  #place() {
    let position = 0
    this.#starts = this.groups.map((group) => {
      const start = position
      position += 1 + (this.#open.get(group.query)?.matching ?? 0)
      return start
    })
    this.matching = position
  }

  #at(position) {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#starts[middle] <= position) low = middle
      else high = middle - 1
    }
    return { group: this.groups[low], within: position - this.#starts[low] - 1 }
  }
}

function byKey({ columns, left_out: leftOut }, numbers) {
  const found = columns.map((key, place) => {
    const [count, mean, lowest, highest, best] = numbers[place]
    return [key, { count, mean, lowest, highest, best }]
  })
  return new Map([...found, ...leftOut.map((key) => [key, { isLeftOut: true }])])
}
