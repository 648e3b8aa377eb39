// Fetches rows while the user scrolls, throttled, latest position first, then one block ahead
// in the scroll direction.
import { BLOCK } from "./row_blocks.js"

const EVERY_MS = 80
// Faster scrolling skips loading.
const TOO_FAST = 2 * BLOCK
// The server finishes a request even if it is canceled, so wait before sending the next.
const PATIENCE_MS = 400

export class RowsAhead {
  #rows
  #onRows
  #wanted = null
  #asked = null
  #seen = 0
  #direction = 1
  #turns = null
  #loading = null

  // `rows` returns the current row source; `onRows` is called when rows have arrived.
  constructor(rows, onRows) {
    this.#rows = rows
    this.#onRows = onRows
  }

  // Reports the visible range.
  pass(from, to) {
    this.#wanted = [from, to]
    if (this.#turns) return
    this.#face(from)
    this.#seen = from
    this.#turns = setInterval(() => this.#turn(), EVERY_MS)
    this.#turn()
  }

  #turn() {
    const [from] = this.#wanted
    const moved = from - this.#seen
    this.#face(from)
    this.#seen = from
    if (Math.abs(moved) > TOO_FAST) return
    if (this.#loading && performance.now() - this.#loading.began < PATIENCE_MS) return
    if (this.#wanted !== this.#asked) this.#load(this.#wanted)
    else if (!this.#loading) this.#rest()
  }

  #face(from) {
    this.#direction = Math.sign(from - this.#seen) || this.#direction
  }

  #rest() {
    clearInterval(this.#turns)
    this.#turns = null
  }

  async #load([from, to]) {
    const loading = { began: performance.now() }
    this.#loading = loading
    this.#asked = this.#wanted
    const rows = this.#rows()
    const ahead = this.#direction < 0 ? [from - BLOCK, from] : [to, to + BLOCK]
    rows.leave(Math.min(from, ahead[0]), Math.max(to, ahead[1]))
    try {
      if (await rows.load(from, to, { isPassing: true })) this.#onRows()
      // The position or the query may have changed.
      if (this.#loading === loading && this.#rows() === rows) await rows.load(...ahead, { isPassing: true })
    } finally {
      if (this.#loading === loading) this.#loading = null
    }
  }
}
