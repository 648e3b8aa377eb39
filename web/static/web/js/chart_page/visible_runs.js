// Runs visible in the charts next to the list: the first rows of the table, without those the user
// hid, plus those the user added. "None" removes the first rows. Each visible run keeps its color
// slot; a slot chosen by the user returns with the run.
export const SHOWN_AT_FIRST = 10
// Limits the length of the URL.
const MAX_LISTED = 50
const ID = /^[0-9a-f-]{36}$/
const SLOT = /^\d{1,3}$/

export class ShownRuns {
  #first = []
  #closed
  #opened
  #slots = new Map()
  #chosen
  #anchor = null

  // `most` is the number of distinguishable colors; `wished` returns the slot that a run has
  // elsewhere, or -1.
  constructor(search, { most, wished = () => -1 }) {
    this.most = most
    this.wished = wished
    this.isNone = search.get("eyes") === "none"
    this.#closed = new Set(ids(search.get("off")))
    this.#opened = new Set(ids(search.get("on")).slice(0, most))
    this.#chosen = new Map(choices(search.get("dyed")).filter(([, slot]) => slot < most))
    const slots = (search.get("shades") ?? "").split(".").map(Number)
    for (const [place, id] of [...this.#opened].entries()) {
      if (this.#isFree(slots[place])) this.#slots.set(id, slots[place])
    }
  }

  // URL parameters; empty without changes.
  get address() {
    const search = new URLSearchParams()
    if (this.isNone) search.set("eyes", "none")
    const closed = [...this.#closed].slice(-MAX_LISTED)
    if (closed.length) search.set("off", closed.join(","))
    if (this.#opened.size) {
      search.set("on", [...this.#opened].join(","))
      search.set("shades", [...this.#opened].map((id) => this.slot(id)).join("."))
    }
    const chosen = [...this.#chosen].slice(-MAX_LISTED)
    if (chosen.length) search.set("dyed", chosen.map((choice) => choice.join(".")).join(","))
    return search
  }

  // Query of the comparison page.
  get comparison() {
    const shown = this.ids
    return new URLSearchParams({ runs: shown.join(","), colours: shown.map((id) => this.slot(id)).join(".") })
  }

  get ids() {
    const first = this.isNone ? [] : this.#first.filter((id) => !this.#closed.has(id) && !this.#opened.has(id))
    return [...first, ...this.#opened].slice(0, this.most)
  }

  isShown(id) {
    return this.#opened.has(id) || (!this.isNone && this.#first.includes(id) && !this.#closed.has(id))
  }

  // The slot of a visible run, or -1.
  slot(id) {
    return this.#slots.get(id) ?? -1
  }

  // The slot the user chose for a run, or -1.
  chosen(id) {
    return this.#chosen.get(id) ?? -1
  }

  // Assigns a slot; the run that had it gets the other one.
  choose(id, slot) {
    const own = this.slot(id)
    const holder = [...this.#slots].find(([, its]) => its === slot)?.[0]
    if (holder && own >= 0) this.#chosen.set(holder, own)
    this.#chosen.set(id, slot)
    this.#colour()
  }

  // `rows` are the first rows of the table.
  follow(rows) {
    this.#first = [...new Set(rows.map(({ id }) => id))].slice(0, SHOWN_AT_FIRST)
    this.#colour()
  }

  // Toggles the visibility of a run; returns whether it was possible.
  toggle(id, position) {
    this.#anchor = { position, isOpening: !this.isShown(id) }
    return this.#set([id], !this.isShown(id))
  }

  // Positions from the last toggled run to this one.
  rangeTo(position) {
    const from = this.#anchor?.position ?? position
    return [Math.min(from, position), Math.max(from, position)]
  }

  // Applies the last toggle to a range.
  extend(range) {
    return this.#set(range, this.#anchor?.isOpening ?? true)
  }

  only(...chosen) {
    this.isNone = true
    this.#closed.clear()
    this.#opened = new Set(chosen.slice(0, this.most))
    this.#colour()
    return chosen.length <= this.most
  }

  // Shows only this run.
  alone(id, position) {
    this.#anchor = { position, isOpening: true }
    return this.only(id)
  }

  none() {
    this.only()
  }

  usual() {
    this.only()
    this.isNone = false
    this.#slots.clear()
    this.#colour()
  }

  get isUsual() {
    return !this.isNone && !this.#closed.size && !this.#opened.size
  }

  #set(range, isOpening) {
    let isDone = true
    for (const id of range) {
      if (this.isShown(id) === isOpening) continue
      if (isOpening && this.ids.length >= this.most) {
        isDone = false
        break
      }
      const isFirst = !this.isNone && this.#first.includes(id)
      this.#opened.delete(id)
      this.#closed.delete(id)
      if (isOpening && !isFirst) this.#opened.add(id)
      if (!isOpening && isFirst) this.#closed.add(id)
    }
    this.#colour()
    return isDone
  }

  // Hidden runs among the first rows keep their slot.
  #colour() {
    const shown = this.ids
    const remaining = new Set([...shown, ...(this.isNone ? [] : this.#first)])
    for (const id of [...this.#slots.keys()]) if (!remaining.has(id)) this.#slots.delete(id)
    for (const id of remaining) if (this.#chosen.has(id)) this.#assign(id, this.#chosen.get(id))
    if (!this.isNone) for (const id of this.#first) this.#give(id)
    for (const id of shown) this.#give(id)
  }

  #give(id) {
    if (this.#slots.has(id)) return
    let slot = this.wished(id)
    if (!this.#isFree(slot)) slot = 0
    while (slot < this.most && !this.#isFree(slot)) slot += 1
    if (slot === this.most) slot = this.#takeFromClosed()
    if (slot >= 0) this.#slots.set(id, slot)
  }

  // Takes over a slot that another run got automatically.
  #assign(id, slot) {
    const holder = [...this.#slots].find(([, its]) => its === slot)?.[0]
    if (holder === id || (holder && this.#chosen.get(holder) === slot)) return
    this.#slots.delete(holder)
    this.#slots.set(id, slot)
  }

  #isFree(slot) {
    return slot >= 0 && slot < this.most && ![...this.#slots.values()].includes(slot)
  }

  #takeFromClosed() {
    const closed = [...this.#slots].find(([id]) => !this.isShown(id))
    if (!closed) return -1
    this.#slots.delete(closed[0])
    return closed[1]
  }
}

// Parses pairs of id and slot.
function choices(text) {
  const pairs = (text ?? "").split(",").map((pair) => pair.split("."))
  return pairs.filter(([id, slot]) => ID.test(id) && SLOT.test(slot)).map(([id, slot]) => [id, Number(slot)])
}

function ids(text) {
  return (text ?? "").split(",").filter((id) => ID.test(id))
}
