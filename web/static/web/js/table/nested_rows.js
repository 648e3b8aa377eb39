// Rows of a table of nested runs: runs without a parent and, below each expanded run, its
// children, which are fetched in blocks of their own.
import { RunBlocks } from "./row_blocks.js"

export class NestedRows {
  #address
  #question = new URLSearchParams()
  #columns
  #open
  #root

  // `blocks` has the rows of the first level; `open` lists the ids of expanded runs.
  constructor(address, blocks, question, open) {
    this.#address = address
    this.#open = new Set(open)
    this.#root = new Level(blocks)
    this.setQuery(question)
  }

  get openIds() {
    return [...this.#open]
  }

  get matching() {
    return this.#root.size
  }

  get columns() {
    return this.#root.blocks.columns
  }

  get isNested() {
    return this.#root.blocks.isNested
  }

  get clockAheadMs() {
    return this.#root.blocks.clockAheadMs
  }

  row(position) {
    const { level, index } = this.#root.at(position)
    return level.blocks.row(index)
  }

  // The depth of a row, whether it is expanded, and the position of its parent.
  nestAt(position) {
    const { level, index, depth, parent } = this.#root.at(position)
    return { depth, parent, isOpen: level.below.some((one) => one.index === index) }
  }

  // The index in the first level of the row at a position, or of its ancestor there.
  rootIndex(position) {
    return this.#root.indexAt(position)
  }

  // The children are loaded again, with another order or filter.
  setQuery(question) {
    this.#question = new URLSearchParams(question)
    // Pinned rows are part of the first level.
    this.#question.delete("top")
    this.#root.below = []
    this.#settle()
  }

  toggle(position) {
    const { id } = this.row(position)
    if (!this.#open.delete(id)) this.#open.add(id)
    this.#settle()
  }

  // Returns whether a block was fetched.
  async load(from, to, how) {
    const size = this.matching
    const asked = this.#root.pieces(from, to).map(({ blocks, low, high }) => blocks.load(low, high, how))
    if (!(await Promise.all(asked)).includes(true)) return false
    this.#settle()
    // The fetched rows may be expanded, too.
    if (this.matching !== size) await this.load(from, to, how)
    return true
  }

  cancelOutside(from, to) {
    const pieces = this.#root.pieces(from, to)
    for (const blocks of this.#root.all()) {
      const own = pieces.filter((piece) => piece.blocks === blocks)
      blocks.cancelOutside(Math.min(...own.map(({ low }) => low), Infinity), Math.max(...own.map(({ high }) => high), -1))
    }
  }

  async refresh(from, to) {
    await Promise.all(this.#root.pieces(from, to).map(({ blocks, low, high }) => blocks.refresh(low, high)))
    this.#settle()
  }

  // Expands rows that were fetched meanwhile, and follows rows that moved.
  #settle() {
    const columns = JSON.stringify(this.columns)
    if (columns !== this.#columns) this.#root.below = []
    this.#columns = columns
    this.#root.settle(this.#open, (row) => this.#levelBelow(row))
  }

  #levelBelow(row) {
    const query = new URLSearchParams(this.#question)
    query.delete("column")
    for (const { key } of this.columns) query.append("column", key)
    query.set("parent", row.id)
    return new Level(new RunBlocks(this.#address, query, null, row.children))
  }
}

// The children of one run, or the runs without a parent.
class Level {
  constructor(blocks) {
    this.blocks = blocks
    this.below = [] // one entry per expanded row, in row order: { id, index, level }
  }

  get size() {
    return this.below.reduce((sum, { level }) => sum + level.size, this.blocks.matching)
  }

  at(position, depth = 0, start = 0, parent = -1) {
    let index = position
    let passed = 0
    for (const one of this.below) {
      if (index <= one.index) break
      const within = index - one.index - 1
      const { size } = one.level
      const at = start + one.index + passed
      if (within < size) return one.level.at(within, depth + 1, at + 1, at)
      index -= size
      passed += size
    }
    return { level: this, index, depth, parent }
  }

  indexAt(position) {
    let index = position
    for (const one of this.below) {
      if (index <= one.index) break
      index = Math.max(one.index, index - one.level.size)
    }
    return index
  }

  // The ranges of rows at these positions: { blocks, low, high }.
  pieces(from, to) {
    const found = []
    let start = 0
    let first = 0
    for (const one of [...this.below, { index: this.blocks.matching - 1 }]) {
      const low = Math.max(first, first + from - start)
      const high = Math.min(one.index, first + to - start)
      if (low <= high) found.push({ blocks: this.blocks, low, high })
      start += one.index - first + 1
      first = one.index + 1
      if (!one.level) continue
      const { size } = one.level
      if (from < start + size && to >= start) found.push(...one.level.pieces(from - start, to - start))
      start += size
    }
    return found
  }

  all() {
    return [this.blocks, ...this.below.flatMap(({ level }) => level.all())]
  }

  settle(open, levelBelow) {
    const known = new Map(this.below.map((one) => [one.id, one]))
    const found = new Map()
    if (open.size) {
      for (const [index, row] of this.blocks.loaded()) {
        if (row.children && open.has(row.id)) found.set(row.id, { id: row.id, index, level: known.get(row.id)?.level ?? levelBelow(row) })
      }
    }
    // Rows that are not loaded now keep their index.
    const unseen = this.below.filter(({ id, index }) => open.has(id) && !found.has(id) && !this.blocks.row(index))
    this.below = [...found.values(), ...unseen].sort((one, other) => one.index - other.index)
    for (const { level } of this.below) level.settle(open, levelBelow)
  }
}
