// Debounced requests for typed text; only the latest response is used.
const TYPING_MS = 150

export class Typeahead {
  // `take` gets the JSON of a response; `fail` is called on errors.
  constructor(take, fail = () => {}) {
    this.take = take
    this.fail = fail
  }

  requestSoon(address, parameters, wait = TYPING_MS) {
    this.stop()
    this.waiting = setTimeout(() => this.request(address, parameters), wait)
  }

  async request(address, parameters) {
    this.stop()
    this.pending = new AbortController()
    const { signal } = this.pending
    const url = new URL(address, document.baseURI)
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    const answer = await read(url, signal)
    if (signal.aborted) return
    answer === null ? this.fail() : this.take(answer)
  }

  stop() {
    clearTimeout(this.waiting)
    this.pending?.abort()
  }
}

// Null on errors: there is nothing to suggest.
async function read(url, signal) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal })
    return response.ok ? await response.json() : null
  } catch (error) {
    if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error
    return null
  }
}
