// Offers what the server knows for what is being typed: data-suggest is "paths", which
// begin so, or "runs", with this in their name.
const TYPING_MS = 150
const MOST = 30
// "min(train/loss" asks for paths that begin with train/loss.
const SUMMARY = /^(last|min|max|mean)\((.*?)\)?$/s

const ASKED = {
  paths: (text) => ({ prefix: SUMMARY.exec(text)?.[2] ?? text }),
  runs: (text) => ({ q: text }),
}
const NAMES = {
  paths: ({ paths }) => paths.map(({ path }) => path),
  runs: ({ rows }) => rows.map(({ name }) => name),
}

let number = 0

export default function suggest(input) {
  const { suggestUrl, suggest: kind } = input.dataset
  const list = document.createElement("datalist")
  list.id = `suggestions-${(number += 1)}`
  input.after(list)
  input.setAttribute("list", list.id)

  let typing, pending
  const ask = async () => {
    const text = input.value.trim()
    pending?.abort()
    pending = new AbortController()
    try {
      const url = `${suggestUrl}?${new URLSearchParams(ASKED[kind](text))}`
      const headers = { Accept: "application/json" }
      const response = await fetch(url, { headers, signal: pending.signal })
      if (response.ok) offer(list, NAMES[kind](await response.json()), text)
    } catch (error) {
      // Something else is typed by now, or the server is away: nothing to offer.
      if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error
    }
  }
  const askSoon = () => {
    clearTimeout(typing)
    typing = setTimeout(ask, TYPING_MS)
  }
  input.addEventListener("focus", askSoon)
  input.addEventListener("input", askSoon)
}

function offer(list, names, text) {
  const summary = SUMMARY.exec(text)?.[1]
  list.replaceChildren(
    ...names.slice(0, MOST).map((name) => {
      const option = document.createElement("option")
      option.value = summary ? `${summary}(${name})` : name
      return option
    }),
  )
}
