// A field that offers columns while one types: those of runs, and what attributes hold
// what is typed, as the server knows them.
import { OF_RUN } from "./run_columns.js"

const TYPING_MS = 150

export class PathOptions {
  // `keysOf` makes the keys that are offered of what was found; none of them is markup.
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
    input.addEventListener("input", () => this.askSoon())
    input.addEventListener("keydown", (event) => this.onKey(event))
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]")
      if (option) this.take([...list.children].indexOf(option))
    })
  }

  askSoon() {
    clearTimeout(this.typing)
    this.typing = setTimeout(() => this.ask(), TYPING_MS)
  }

  async ask() {
    const search = this.input.value.trim()
    this.pending?.abort()
    this.pending = new AbortController()
    try {
      const url = `${this.address}?${new URLSearchParams({ search })}`
      const response = await fetch(url, { headers: { Accept: "application/json" }, signal: this.pending.signal })
      if (!response.ok) return
      this.found = (await response.json()).paths
      this.draw()
    } catch (error) {
      // Something else is typed by now, or the server is away: nothing to offer.
      if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error
    }
  }

  draw() {
    const typed = this.input.value.trim().toLowerCase()
    const ofRun = Object.keys(OF_RUN).filter((key) => OF_RUN[key].label.toLowerCase().includes(typed))
    this.keys = this.keysOf(ofRun, this.found ?? [])
    this.active = Math.min(this.active, this.keys.length - 1)
    this.list.replaceChildren(
      ...this.keys.map((key, place) => {
        const option = document.createElement("li")
        option.id = `${this.list.id}-${place}`
        option.role = "option"
        option.textContent = this.labelOf(key)
        option.title = this.labelOf(key)
        return option
      }),
    )
    this.mark()
  }

  mark() {
    for (const [place, option] of [...this.list.children].entries()) {
      option.setAttribute("aria-selected", String(this.isTaken(this.keys[place])))
      option.classList.toggle("is-active", place === this.active)
    }
    const option = this.list.children[this.active]
    if (!option) return this.input.removeAttribute("aria-activedescendant")
    this.input.setAttribute("aria-activedescendant", option.id)
    option.scrollIntoView({ block: "nearest" })
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && this.keys.length) {
      const count = this.keys.length
      this.active = (this.active + step + (this.active < 0 && step < 0 ? 1 : 0) + count) % count
      this.mark()
    } else if (event.key === "Enter") {
      this.take(Math.max(0, this.active))
    } else {
      return
    }
    event.preventDefault()
  }

  take(place) {
    if (place >= this.keys.length) return
    this.active = place
    this.onTake(this.keys[place])
    this.mark()
  }
}
