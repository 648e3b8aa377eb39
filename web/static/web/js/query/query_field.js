// Autocomplete for queries: attribute paths from the server and keywords.
import { Typeahead } from "../core/typeahead.js"
import { createElement } from "../core/elements.js"
import { mark, stepped } from "../core/active_option.js"
import { FIELDS, isKeyword, unitOf, unquoted, writtenPath } from "./query_words.js"

// Unquoted path before the cursor.
const WORD = /[\p{L}_][\p{L}\p{N}_./-]*$/u
const IN_QUOTES = /^[^"]*("(?:[^"\\]|\\.)*"[^"]*)*"(?:[^"\\]|\\.)*$/
// Summaries of series, and run states.
const SUMMARIES = ["min(", "max(", "mean(", "count(", "first_step(", "last_step("]
const STATES = ["running", "finished", "failed", "crashed", "preempted"]
const AFTER_STATE = /(^|[\s(])state\s*!?=\s*$/
const AFTER_VALUE_MARK = /[<>=~]\s*$/
// Arithmetic accepts attributes only.
const AFTER_SIGN = /[*+]\s*$|[\s)"][-/]\s+$/

export default function queryField(element) {
  new QueryField(element).start()
}

class QueryField {
  constructor(element) {
    this.address = element.dataset.pathsUrl
    this.input = element.querySelector("input")
    this.list = element.querySelector("[data-part=paths]")
    this.paths = []
    this.active = -1
    this.typeahead = new Typeahead(({ paths }) => this.offer(paths), () => this.close())
  }

  start() {
    this.input.addEventListener("input", () => this.request())
    this.input.addEventListener("keydown", (event) => this.onKey(event))
    this.input.addEventListener("blur", () => this.close())
    // Keeps focus in the field.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault()
      const option = event.target.closest("[role=option]")
      if (option) this.insert(this.paths[[...this.list.children].indexOf(option)])
    })
  }

  get word() {
    const before = this.input.value.slice(0, this.input.selectionStart)
    if (IN_QUOTES.test(before)) return ""
    return WORD.exec(before)?.[0] ?? ""
  }

  // Keywords that can follow at this position.
  words(word) {
    const before = this.input.value.slice(0, this.input.selectionStart - word.length)
    if (AFTER_STATE.test(before)) return STATES.filter((state) => state.startsWith(word) && state !== word)
    if (AFTER_VALUE_MARK.test(before)) return []
    const fields = AFTER_SIGN.test(before) ? [] : FIELDS
    return [...fields, ...SUMMARIES].filter((name) => name.startsWith(word) && name !== word)
  }

  request() {
    const { word } = this
    if (!word || isKeyword(word)) return this.close()
    this.askedFor = word
    this.typeahead.requestSoon(this.address, { prefix: word })
  }

  offer(paths) {
    const { word } = this
    if (word !== this.askedFor) return
    const known = paths.map(({ path }) => writtenPath(path)).filter((path) => path !== word)
    this.open([...this.words(word), ...known])
  }

  open(paths) {
    this.paths = paths
    this.active = -1
    this.list.replaceChildren(
      ...paths.map((path, place) => {
        const option = document.createElement("li")
        option.id = `query-path-${place}`
        option.role = "option"
        // An attribute named like a run field keeps its quotes.
        option.textContent = FIELDS.includes(unquoted(path)) ? path : unquoted(path)
        if (unitOf(path)) option.append(" ", createElement("span", "muted small query__unit", unitOf(path)))
        return option
      }),
    )
    this.show(paths.length > 0 && document.activeElement === this.input)
  }

  close() {
    this.typeahead.stop()
    this.show(false)
  }

  show(isOpen) {
    this.list.hidden = !isOpen
    this.input.setAttribute("aria-expanded", String(isOpen))
    if (!isOpen) this.active = -1
    this.mark()
  }

  mark() {
    mark(this.input, this.list, this.active)
  }

  onKey(event) {
    if (this.list.hidden) return
    const active = stepped(event.key, this.active, this.paths.length)
    if (active !== undefined) {
      this.active = active
      this.mark()
    } else if (event.key === "Enter" && this.active >= 0) {
      this.insert(this.paths[this.active])
    } else if (event.key === "Escape") {
      this.close()
    } else {
      return
    }
    event.preventDefault()
  }

  insert(path) {
    const end = this.input.selectionStart
    this.input.setRangeText(path, end - this.word.length, end, "end")
    this.close()
    this.input.dispatchEvent(new Event("input", { bubbles: true }))
  }
}