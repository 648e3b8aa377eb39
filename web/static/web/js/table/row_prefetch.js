// Fetches rows while the user scrolls, throttled, latest position first, then one block ahead
// in the scroll direction.
import { BLOCK } from "./row_blocks.js"

const INTERVAL_MS = 80
// Faster scrolling skips loading.
const MAX_ROWS_PER_INTERVAL = 2 * BLOCK
// The server finishes a request even if it is canceled, so wait before sending the next.
const REQUEST_TIMEOUT_MS = 400

export class RowPrefetch {
  #rows
  #onRows
  #visible = null
  #requested = null
  #previousFrom = 0
  #direction = 1
  #timer = null
  #loading = null

  // `rows` returns the current row source; `onRows` is called when rows have arrived.
  constructor(rows, onRows) {
    this.#rows = rows
    this.#onRows = onRows
  }

  // Reports the visible range.
  scrolledTo(from, to) {
    this.#visible = [from, to]
    if (this.#timer) return
    this.#updateDirection(from)
    this.#previousFrom = from
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS)
    this.#tick()
  }

  #tick() {
    const [from] = this.#visible
    const moved = from - this.#previousFrom
    this.#updateDirection(from)
    this.#previousFrom = from
    if (Math.abs(moved) > MAX_ROWS_PER_INTERVAL) return
    if (this.#loading && performance.now() - this.#loading.began < REQUEST_TIMEOUT_MS) return
    if (this.#visible !== this.#requested) this.#load(this.#visible)
    else if (!this.#loading) this.#stop()
  }

  #updateDirection(from) {
    this.#direction = Math.sign(from - this.#previousFrom) || this.#direction
  }

  #stop() {
    clearInterval(this.#timer)
    this.#timer = null
  }

  async #load([from, to]) {
    const loading = { began: performance.now() }
    this.#loading = loading
    this.#requested = this.#visible
    const rows = this.#rows()
    const ahead = this.#direction < 0 ? [from - BLOCK, from] : [to, to + BLOCK]
    rows.cancelOutside(Math.min(from, ahead[0]), Math.max(to, ahead[1]))
    try {
      if (await rows.load(from, to, { isPassing: true })) this.#onRows()
      // The position or the query may have changed.
      if (this.#loading === loading && this.#rows() === rows) await rows.load(...ahead, { isPassing: true })
    } finally {
      if (this.#loading === loading) this.#loading = null
    }
  }
}
