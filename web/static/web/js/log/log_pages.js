// Cache of fetched log lines, in blocks; least recently used blocks are evicted.

export const BLOCK = 500
const MAX_BLOCKS = 60
const RETRY_MS = 5_000

export class LogPages {
  #blocks = new Map()
  #requested = new Set()

  // `fetchLines(first, limit)` resolves to lines {position, step, time, text}, or null.
  constructor(fetchLines, changed, retryMs = RETRY_MS) {
    this.fetchLines = fetchLines
    this.changed = changed
    this.retryMs = retryMs
  }

  // The line, null while loading, undefined if it cannot be read.
  line(position) {
    const number = Math.floor(position / BLOCK)
    const block = this.#blocks.get(number)
    if (!block) {
      this.#request(number)
      return null
    }
    this.#blocks.delete(number)
    this.#blocks.set(number, block)
    if (position >= block.end) {
      this.#request(number)
      return null
    }
    return block.lines.get(position)
  }

  // Adds lines received by a poll.
  put(lines, end) {
    for (const line of lines) this.#block(Math.floor(line.position / BLOCK)).lines.set(line.position, line)
    const first = lines[0]?.position ?? end
    for (let number = Math.floor(first / BLOCK); number * BLOCK < end; number += 1) {
      const block = this.#blocks.get(number)
      // Earlier lines of the block may be missing.
      if (block && block.end >= Math.max(first, number * BLOCK)) {
        block.end = Math.max(block.end, Math.min(end, (number + 1) * BLOCK))
      }
    }
  }

  #block(number) {
    if (!this.#blocks.has(number)) this.#blocks.set(number, { lines: new Map(), end: number * BLOCK })
    while (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value)
    return this.#blocks.get(number)
  }

  async #request(number) {
    if (this.#requested.has(number)) return
    this.#requested.add(number)
    const known = this.#blocks.get(number)?.end ?? number * BLOCK
    const answer = await this.fetchLines(known, (number + 1) * BLOCK - known)
    // Missing lines are requested on the next draw; the delay prevents a request loop.
    if (!answer || answer.end <= known) await new Promise((resume) => setTimeout(resume, this.retryMs))
    if (answer) {
      const block = this.#block(number)
      for (const line of answer.lines) block.lines.set(line.position, line)
      block.end = Math.max(block.end, Math.min(answer.end, (number + 1) * BLOCK))
    }
    this.#requested.delete(number)
    this.changed()
  }
}
