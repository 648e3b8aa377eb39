// Completes the path that is being typed in a query, from the list the server has.
const TYPING_MS = 150
// What a path looks like without quotes, up to the place of typing.
const WORD = /[\p{L}_][\p{L}\p{N}_./-]*$/u
const IN_QUOTES = /^[^"]*("(?:[^"\\]|\\.)*"[^"]*)*"(?:[^"\\]|\\.)*$/
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*$/u
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
      if (this.word === word) this.open(paths.map(({ path }) => path).filter((path) => path !== word))
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
        option.textContent = path
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
    const text = written(path)
    this.input.setRangeText(text, end - this.word.length, end, "end")
    this.close()
    this.input.dispatchEvent(new Event("input", { bubbles: true }))
  }
}

// As the query language writes a path: in quotes if it is more than a word.
function written(path) {
  if (PLAIN.test(path) && !WORDS.has(path.toLowerCase())) return path
  return `"${path.replaceAll(/["\\]/g, "\\$&")}"`
}
