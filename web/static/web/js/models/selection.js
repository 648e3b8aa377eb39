// The runs somebody picked, in the order they were picked: their order is their colour.
export class Selection {
  #places = new Map()
  #anchor = null

  get ids() {
    return [...this.#places.keys()]
  }

  // Its place among those picked, or -1.
  place(id) {
    return this.#places.get(id) ?? -1
  }

  toggle(id, position) {
    const others = this.ids.filter((other) => other !== id)
    this.#number(this.#places.has(id) ? others : [...others, id])
    this.#anchor = position
  }

  add(ids) {
    this.#number([...this.ids, ...ids])
  }

  clear() {
    this.#number([])
    this.#anchor = null
  }

  // The positions from the last run picked to this one.
  rangeTo(position) {
    const anchor = this.#anchor ?? position
    return [Math.min(anchor, position), Math.max(anchor, position)]
  }

  #number(ids) {
    this.#places = new Map([...new Set(ids)].map((id, place) => [id, place]))
  }
}
