// Pinned rows, followed by the sorted rows of the table.
export class TopRows {
  // `blocks` holds the pinned runs; `below` holds the rows of runs or groups.
  constructor(blocks, below = blocks) {
    this.blocks = blocks
    this.below = below
  }

  get top() {
    return this.blocks.top
  }

  get matching() {
    return this.top.length + this.below.matching
  }

  get columns() {
    return this.below.columns
  }

  get groups() {
    return this.below.groups
  }

  get isNested() {
    return Boolean(this.below.isNested)
  }

  get keys() {
    return this.below.keys
  }

  get clockAheadMs() {
    return this.below.clockAheadMs
  }

  row(position) {
    return position < this.top.length ? this.top[position] : this.below.row(position - this.top.length)
  }

  // The depth and the parent's position of a nested row, otherwise null.
  nestAt(position) {
    const { length } = this.top
    if (position < length || !this.isNested) return null
    const { parent, ...nest } = this.below.nestAt(position - length)
    return { ...nest, parent: parent < 0 ? -1 : parent + length }
  }

  load(from, to, how) {
    return this.below.load(...this.underTop(from, to), how)
  }

  cancelOutside(from, to) {
    this.below.cancelOutside(...this.underTop(from, to))
  }

  underTop(...positions) {
    return positions.map((position) => Math.max(0, position - this.top.length))
  }
}
