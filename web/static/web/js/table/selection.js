// Selected runs. Each run has a color slot: the first free one when it was selected. It keeps
// its slot when other runs are removed, here and on the comparison page.
import { gettext } from "../core/texts.js"
import { store, stored } from "../core/tab_storage.js"

// Larger selections do not fit into the URL and are kept in session storage.
const MAX_LISTED = 100
const STORAGE_KEY = "ticked"

export class Selection {
  #slots = new Map()
  #hidden = new Set()
  #anchor = null
  // The query behind "select all matching", or null.
  #question = null
  // Returns the slot that a run has elsewhere on the page, or -1.
  wished = () => -1

  // URL format: runs=…&colours=…&hidden=…
  static read(search) {
    const selection = new Selection()
    if (!search.has("runs")) search = new URLSearchParams(stored(STORAGE_KEY))
    const ids = (search.get("runs") ?? "").split(",").filter(Boolean)
    const slots = numbers(search.get("colours"))
    const isKnown = slots.length === ids.length && new Set(slots).size === slots.length
    for (const [place, id] of ids.entries()) selection.#slots.set(id, isKnown ? slots[place] : place)
    const hidden = new Set(numbers(search.get("hidden")))
    for (const [id, slot] of selection.#slots) if (hidden.has(slot)) selection.#hidden.add(id)
    return selection
  }

  // Empty for large selections.
  get address() {
    return this.#slots.size > MAX_LISTED ? new URLSearchParams() : this.#written
  }

  get #written() {
    const search = new URLSearchParams()
    const slots = [...this.#slots.values()]
    if (!slots.length) return search
    search.set("runs", this.ids.join(","))
    if (slots.some((slot, place) => slot !== place)) search.set("colours", slots.join("."))
    const hidden = this.ids.filter((id) => this.#hidden.has(id)).map((id) => this.place(id))
    if (hidden.length) search.set("hidden", hidden.sort((a, b) => a - b).join("."))
    return search
  }

  // Selects everything that matches the query, in addition to single runs.
  tickMatching(question) {
    this.#question = question
  }

  get question() {
    return this.#question
  }

  get isMatching() {
    return this.#question !== null
  }

  // Ends "all matching" and returns whether it was active; single runs stay selected.
  endMatching() {
    const was = this.isMatching
    this.#question = null
    return was
  }

  get ids() {
    return [...this.#slots.keys()]
  }

  // Returns the slot of a selected run, or -1.
  place(id) {
    return this.#slots.get(id) ?? -1
  }

  // Assigns a slot; the run that had it gets the other one.
  choose(id, slot) {
    if (!this.#slots.has(id)) return
    const holder = this.ids.find((other) => this.place(other) === slot)
    if (holder) this.#slots.set(holder, this.place(id))
    this.#slots.set(id, slot)
    this.#store()
  }

  // Hidden runs are left out of charts and keep their color.
  isHidden(id) {
    return this.#hidden.has(id)
  }

  // Visibility of a selected run, as shown in its row.
  eyeOf(id) {
    const slot = this.place(id)
    if (slot < 0) return null
    const isOpen = !this.isHidden(id)
    return {
      slot,
      line: slot,
      isOpen,
      status: isOpen ? "" : gettext("hidden in comparisons"),
      title: isOpen ? gettext("Hide in comparison charts") : gettext("Show in comparison charts"),
    }
  }

  hide(id, isHidden) {
    if (isHidden && this.#slots.has(id)) this.#hidden.add(id)
    else this.#hidden.delete(id)
    this.#store()
  }

  toggle(id, position) {
    if (this.#slots.has(id)) this.remove([id])
    else this.add([id])
    this.#anchor = position
  }

  add(ids) {
    const taken = new Set(this.#slots.values())
    let free = 0
    for (const id of ids) {
      if (this.#slots.has(id)) continue
      while (taken.has(free)) free += 1
      const preferred = this.wished(id)
      const slot = preferred >= 0 && !taken.has(preferred) ? preferred : free
      taken.add(slot)
      this.#slots.set(id, slot)
    }
    this.#store()
  }

  remove(ids) {
    for (const id of ids) {
      this.#slots.delete(id)
      this.#hidden.delete(id)
    }
    this.#store()
  }

  clear() {
    this.#question = null
    this.#slots.clear()
    this.#hidden.clear()
    this.#anchor = null
    this.#store()
  }

  #store() {
    store(STORAGE_KEY, this.#slots.size > MAX_LISTED ? String(this.#written) : "")
  }

  // Positions from the last selected run to this one.
  rangeTo(position) {
    const anchor = this.#anchor ?? position
    return [Math.min(anchor, position), Math.max(anchor, position)]
  }
}

function numbers(text) {
  return (text ?? "").split(".").filter((part) => /^\d{1,4}$/.test(part)).map(Number)
}
