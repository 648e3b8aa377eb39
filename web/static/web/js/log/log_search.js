// Positions of matching lines and the current match.

const MAX_MATCHES = 100_000

export class LogSearch {
  text = ""
  positions = []
  place = -1
  isCut = false
  hasFailed = false
  #end = 0
  #searchCount = 0
  #known = new Set()

  // `fetchFound(text, first)` resolves to {positions, end, next}, or null.
  constructor(fetchFound) {
    this.fetchFound = fetchFound
  }

  get count() {
    return this.positions.length
  }

  get current() {
    return this.positions[this.place] ?? -1
  }

  has(position) {
    return this.#known.has(position)
  }

  // Resolves to false if another search has started.
  async find(text, onProgress) {
    const search = ++this.#searchCount
    Object.assign(this, { text, positions: [], place: -1, isCut: false })
    this.#end = 0
    this.#known = new Set()
    onProgress(!text)
    return text ? this.#read(search, onProgress) : true
  }

  // Searches new lines; resolves to true if there are more matches.
  async goOn() {
    if (!this.text || this.isCut) return false
    const before = this.count
    return (await this.#read(this.#searchCount, () => {})) && this.count > before
  }

  // Moves to the next match, the previous one, or the first at or after a line (0).
  go(step, line) {
    if (!this.count) return null
    if (step === 0 || this.place < 0) {
      const next = this.positions.findIndex((position) => position >= line)
      this.place = next < 0 ? this.count - 1 : next
    } else {
      this.place = (this.place + step + this.count) % this.count
    }
    return this.current
  }

  async #read(search, onProgress) {
    this.hasFailed = false
    for (let first = this.#end; first !== null; ) {
      const answer = await this.fetchFound(this.text, first)
      if (search !== this.#searchCount) return false
      this.hasFailed = !answer
      if (!answer) return true
      for (const position of answer.positions) {
        this.positions.push(position)
        this.#known.add(position)
      }
      this.#end = answer.end
      first = answer.next
      this.isCut = first !== null && this.count >= MAX_MATCHES
      if (this.isCut) return true
      onProgress(first === null)
    }
    return true
  }
}
