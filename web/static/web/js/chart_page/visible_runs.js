// The runs whose eyes are open in the list beside the charts: the first of the table, but
// those that somebody closed, and others that somebody opened. "None" takes the first away.
// Each has a slot, which is its colour, and keeps it while it is shown; one that somebody
// chose comes back with the run.
export const SHOWN_AT_FIRST = 10
// More closed eyes than this are not worth an address.
const LISTED_AT_MOST = 50
const ID = /^[0-9a-f-]{36}$/
const SLOT = /^\d{1,3}$/

export class ShownRuns {
  #first = []
  #closed
  #opened
  #slots = new Map()
  #chosen
  #anchor = null

  // `most` can be told apart; `wished` says which slot a run has elsewhere, or -1.
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

  // As the address has them; of what nobody changed, nothing.
  get address() {
    const search = new URLSearchParams()
    if (this.isNone) search.set("eyes", "none")
    const closed = [...this.#closed].slice(-LISTED_AT_MOST)
    if (closed.length) search.set("off", closed.join(","))
    if (this.#opened.size) {
      search.set("on", [...this.#opened].join(","))
      search.set("shades", [...this.#opened].map((id) => this.slot(id)).join("."))
    }
    const chosen = [...this.#chosen].slice(-LISTED_AT_MOST)
    if (chosen.length) search.set("dyed", chosen.map((choice) => choice.join(".")).join(","))
    return search
  }

  // What a comparison of them asks for.
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

  // The slot of a run that is shown, or -1.
  slot(id) {
    return this.#slots.get(id) ?? -1
  }

  // The slot that somebody chose for a run, or -1.
  chosen(id) {
    return this.#chosen.get(id) ?? -1
  }

  // Gives a run this slot; whichever run has it takes the other's.
  choose(id, slot) {
    const own = this.slot(id)
    const holder = [...this.#slots].find(([, its]) => its === slot)?.[0]
    if (holder && own >= 0) this.#chosen.set(holder, own)
    this.#chosen.set(id, slot)
    this.#colour()
  }

  // `rows` are the first of the table as it is now.
  follow(rows) {
    this.#first = [...new Set(rows.map(({ id }) => id))].slice(0, SHOWN_AT_FIRST)
    this.#colour()
  }

  // Opens or closes an eye; returns whether that could be done.
  toggle(id, position) {
    this.#anchor = { position, isOpening: !this.isShown(id) }
    return this.#set([id], !this.isShown(id))
  }

  // The positions from the eye pressed last to this one.
  rangeTo(position) {
    const from = this.#anchor?.position ?? position
    return [Math.min(from, position), Math.max(from, position)]
  }

  // Does to all of these what was done last.
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

  // Opens this eye and closes all others.
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

  // Those of the first that are closed keep their colour for when they open again.
  #colour() {
    const shown = this.ids
    const kept = new Set([...shown, ...(this.isNone ? [] : this.#first)])
    for (const id of [...this.#slots.keys()]) if (!kept.has(id)) this.#slots.delete(id)
    for (const id of kept) if (this.#chosen.has(id)) this.#put(id, this.#chosen.get(id))
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

  // Takes the slot from whichever run has it by chance.
  #put(id, slot) {
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

// Pairs of an id and a slot.
function choices(text) {
  const pairs = (text ?? "").split(",").map((pair) => pair.split("."))
  return pairs.filter(([id, slot]) => ID.test(id) && SLOT.test(slot)).map(([id, slot]) => [id, Number(slot)])
}

function ids(text) {
  return (text ?? "").split(",").filter((id) => ID.test(id))
}
