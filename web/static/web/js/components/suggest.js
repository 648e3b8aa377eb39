// Suggestions for a text field: data-suggest is "paths" (prefix) or "runs" (part of the name).
// Words of data-offered come first.
import { Typeahead } from "../core/typeahead.js"
import { quoted } from "../query/query_words.js"

const MAX_OPTIONS = 30
// "min(train/loss" suggests paths that start with train/loss.
const SUMMARY = /^(last|min|max|mean)\((.*?)\)?$/s

const PARAMETERS = {
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

  const typed = () => input.value.trim()
  const offered = input.dataset.offered?.split(" ") ?? []
  const typeahead = new Typeahead((answer) => offer(list, NAMES[kind](answer), typed(), offered))
  const request = () => typeahead.requestSoon(suggestUrl, PARAMETERS[kind](typed()))
  input.addEventListener("focus", request)
  input.addEventListener("input", request)
}

function offer(list, names, text, offered) {
  const summary = SUMMARY.exec(text)?.[1]
  const words = summary ? [] : offered.filter((word) => word.startsWith(text))
  // An attribute named like one of the words is quoted.
  const paths = names.map((name) => (summary ? `${summary}(${name})` : offered.includes(name) ? quoted(name) : name))
  list.replaceChildren(
    ...[...words, ...paths].slice(0, MAX_OPTIONS).map((value) => {
      const option = document.createElement("option")
      option.value = value
      return option
    }),
  )
}
