// The lines of a log that were fetched, in blocks; the oldest ones looked at are dropped.

export const BLOCK = 500
const MAX_BLOCKS = 60
const RETRY_MS = 5_000

export class LogPages {
  #blocks = new Map()
  #asked = new Set()

  // `fetchLines(first, limit)` answers lines as {position, step, time, text}, or null.
  constructor(fetchLines, changed, retryMs = RETRY_MS) {
    this.fetchLines = fetchLines
    this.changed = changed
    this.retryMs = retryMs
  }

  // The line, null while it is on its way, undefined where it cannot be read.
  line(position) {
    const number = Math.floor(position / BLOCK)
    const block = this.#blocks.get(number)
    if (!block) {
      this.#ask(number)
      return null
    }
    this.#blocks.delete(number)
    this.#blocks.set(number, block)
    if (position >= block.end) {
      this.#ask(number)
      return null
    }
    return block.lines.get(position)
  }

  // Take lines that came by another way, as new ones do.
  put(lines, end) {
    for (const line of lines) this.#block(Math.floor(line.position / BLOCK)).lines.set(line.position, line)
    const first = lines[0]?.position ?? end
    for (let number = Math.floor(first / BLOCK); number * BLOCK < end; number += 1) {
      const block = this.#blocks.get(number)
      // What stands before these may not have been fetched.
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

  async #ask(number) {
    if (this.#asked.has(number)) return
    this.#asked.add(number)
    const known = this.#blocks.get(number)?.end ?? number * BLOCK
    const answer = await this.fetchLines(known, (number + 1) * BLOCK - known)
    // What lacks is asked for when it is drawn: at once again, it would be without end.
    if (!answer || answer.end <= known) await new Promise((resume) => setTimeout(resume, this.retryMs))
    if (answer) {
      const block = this.#block(number)
      for (const line of answer.lines) block.lines.set(line.position, line)
      block.end = Math.max(block.end, Math.min(answer.end, (number + 1) * BLOCK))
    }
    this.#asked.delete(number)
    this.changed()
  }
}
