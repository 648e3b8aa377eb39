// Completes what is being typed in a query: paths from the list the server has, and the
// words of the language.
const TYPING_MS = 150
// What a path looks like without quotes, up to the place of typing.
const WORD = /[\p{L}_][\p{L}\p{N}_./-]*$/u
const IN_QUOTES = /^[^"]*("(?:[^"\\]|\\.)*"[^"]*)*"(?:[^"\\]|\\.)*$/
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*$/u
// What every run has, what can be asked of a series, and what states there are.
const FIELDS = ["name", "state", "created", "started", "ended", "duration"]
const SUMMARIES = ["min(", "max(", "mean(", "count(", "first_step(", "last_step("]
const STATES = ["running", "finished", "failed", "crashed", "preempted"]
const AFTER_STATE = /(^|[\s(])state\s*!?=\s*$/
const AFTER_VALUE_MARK = /[<>=~]\s*$/
const WORDS = new Set(["and", "or", "not", "contains", "exists", "is", "nan"])

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
  }

  start() {
    this.input.addEventListener("input", () => this.askSoon())
    this.input.addEventListener("keydown", (event) => this.onKey(event))
    this.input.addEventListener("blur", () => this.close())
    // Before the field loses the focus.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault()
      const option = event.target.closest("[role=option]")
      if (option) this.take(this.paths[[...this.list.children].indexOf(option)])
    })
  }

  get word() {
    const before = this.input.value.slice(0, this.input.selectionStart)
    if (IN_QUOTES.test(before)) return ""
    return WORD.exec(before)?.[0] ?? ""
  }

  // The words of the language that begin so, at this place of the query.
  words(word) {
    const before = this.input.value.slice(0, this.input.selectionStart - word.length)
    if (AFTER_STATE.test(before)) return STATES.filter((state) => state.startsWith(word) && state !== word)
    if (AFTER_VALUE_MARK.test(before)) return []
    return [...FIELDS, ...SUMMARIES].filter((name) => name.startsWith(word) && name !== word)
  }

  askSoon() {
    clearTimeout(this.typing)
    this.typing = setTimeout(() => this.ask(), TYPING_MS)
  }

  async ask() {
    const word = this.word
    if (!word || WORDS.has(word.toLowerCase())) return this.close()
    this.pending?.abort()
    this.pending = new AbortController()
    try {
      const url = `${this.address}?${new URLSearchParams({ prefix: word })}`
      const response = await fetch(url, { signal: this.pending.signal })
      if (!response.ok) return this.close()
      const { paths } = await response.json()
      if (this.word !== word) return
      const known = paths.map(({ path }) => path).filter((path) => path !== word)
      this.open([...this.words(word), ...known.map(written)])
    } catch (error) {
      // Something else is typed by now, or the server is away: nothing to offer.
      if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error
    }
  }

  open(paths) {
    this.paths = paths
    this.active = -1
    this.list.replaceChildren(
      ...paths.map((path, place) => {
        const option = document.createElement("li")
        option.id = `query-path-${place}`
        option.role = "option"
        option.textContent = path.startsWith('"') ? unwritten(path) : path
        return option
      }),
    )
    this.show(paths.length > 0 && document.activeElement === this.input)
  }

  close() {
    clearTimeout(this.typing)
    this.pending?.abort()
    this.show(false)
  }

  show(isOpen) {
    this.list.hidden = !isOpen
    this.input.setAttribute("aria-expanded", String(isOpen))
    if (!isOpen) this.active = -1
    this.mark()
  }

  mark() {
    for (const [place, option] of [...this.list.children].entries()) {
      option.setAttribute("aria-selected", String(place === this.active))
    }
    const option = this.list.children[this.active]
    if (!option) return this.input.removeAttribute("aria-activedescendant")
    this.input.setAttribute("aria-activedescendant", option.id)
    option.scrollIntoView({ block: "nearest" })
  }

  onKey(event) {
    if (this.list.hidden) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      const count = this.paths.length
      this.active = (this.active + step + (this.active < 0 && step < 0 ? 1 : 0) + count) % count
      this.mark()
    } else if (event.key === "Enter" && this.active >= 0) {
      this.take(this.paths[this.active])
    } else if (event.key === "Escape") {
      this.close()
    } else {
      return
    }
    event.preventDefault()
  }

  take(path) {
    const end = this.input.selectionStart
    this.input.setRangeText(path, end - this.word.length, end, "end")
    this.close()
    this.input.dispatchEvent(new Event("input", { bubbles: true }))
  }
}

function unwritten(text) {
  return text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1")
}

// As the query language writes a path: in quotes if it is more than a word, or is one of
// the language.
function written(path) {
  if (PLAIN.test(path) && !WORDS.has(path.toLowerCase()) && !FIELDS.includes(path)) return path
  return `"${path.replaceAll(/["\\]/g, "\\$&")}"`
}
