// Fetches the rows of a long table while somebody scrolls: at once, and then as they go on,
// the newest place first. What comes next in their direction is fetched before it is there.
import { BLOCK } from "./row_blocks.js"

const EVERY_MS = 80
// Who drags the scroll bar past so many rows in that time reads none of them.
const TOO_FAST = 2 * BLOCK
// What a server was asked for it works on, whether or not somebody still waits for it.
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

  // `rows` returns what is scrolled now; `onRows` is told whenever some of it have come.
  constructor(rows, onRows) {
    this.#rows = rows
    this.#onRows = onRows
  }

  // Somebody has come to these rows.
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
      // Meanwhile somebody may have gone elsewhere, or asked for something else.
      if (this.#loading === loading && this.#rows() === rows) await rows.load(...ahead, { isPassing: true })
    } finally {
      if (this.#loading === loading) this.#loading = null
    }
  }
}
