// Combobox of columns: fields of runs, and attributes found by the server.
import { Typeahead } from "../core/typeahead.js"
import { createElement } from "../core/elements.js"
import { mark, stepped } from "../core/active_option.js"
import { RUN_FIELDS } from "./run_columns.js"

export class PathOptions {
  // `keysOf` converts the search results to column keys. Keys are plain text, never markup.
  constructor(input, list, { address, keysOf, onTake, isTaken = () => false, labelOf }) {
    this.input = input
    this.list = list
    this.address = address
    this.keysOf = keysOf
    this.onTake = onTake
    this.isTaken = isTaken
    this.labelOf = labelOf
    this.keys = []
    this.active = -1
    this.typeahead = new Typeahead(({ paths }) => {
      this.found = paths
      this.draw()
    })
    input.addEventListener("input", () => this.typeahead.requestSoon(this.address, this.question))
    input.addEventListener("keydown", (event) => this.onKey(event))
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]")
      if (option) this.select([...list.children].indexOf(option))
    })
  }

  get question() {
    return { search: this.input.value.trim() }
  }

  request() {
    return this.typeahead.request(this.address, this.question)
  }

  draw() {
    const typed = this.input.value.trim().toLowerCase()
    const ofRun = Object.keys(RUN_FIELDS).filter((key) => RUN_FIELDS[key].label.toLowerCase().includes(typed))
    this.keys = this.keysOf(ofRun, this.found ?? [])
    this.active = Math.min(this.active, this.keys.length - 1)
    this.list.replaceChildren(
      ...this.keys.map((key, place) => {
        const option = createElement("li", "", this.labelOf(key))
        option.id = `${this.list.id}-${place}`
        option.role = "option"
        option.title = this.labelOf(key)
        return option
      }),
    )
    this.mark()
  }

  mark() {
    mark(this.input, this.list, this.active, (place) => this.isTaken(this.keys[place]))
  }

  onKey(event) {
    const active = stepped(event.key, this.active, this.keys.length)
    if (active !== undefined) {
      this.active = active
      this.mark()
    } else if (event.key === "Enter") {
      this.select(Math.max(0, this.active))
    } else {
      return
    }
    event.preventDefault()
  }

  select(place) {
    if (place >= this.keys.length) return
    this.active = place
    this.onTake(this.keys[place])
    this.mark()
  }
}
