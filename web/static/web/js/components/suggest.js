// Suggestions for a text field: data-suggest is "paths" (prefix) or "runs" (part of the name).
// Words of data-offered come first.
import { Asked } from "../core/typeahead.js"
import { quoted } from "../query/query_words.js"

const MOST = 30
// "min(train/loss" suggests paths that start with train/loss.
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

  const typed = () => input.value.trim()
  const offered = input.dataset.offered?.split(" ") ?? []
  const asked = new Asked((answer) => offer(list, NAMES[kind](answer), typed(), offered))
  const ask = () => asked.soon(suggestUrl, ASKED[kind](typed()))
  input.addEventListener("focus", ask)
  input.addEventListener("input", ask)
}

function offer(list, names, text, offered) {
  const summary = SUMMARY.exec(text)?.[1]
  const words = summary ? [] : offered.filter((word) => word.startsWith(text))
  // An attribute named like one of the words is quoted.
  const paths = names.map((name) => (summary ? `${summary}(${name})` : offered.includes(name) ? quoted(name) : name))
  list.replaceChildren(
    ...[...words, ...paths].slice(0, MOST).map((value) => {
      const option = document.createElement("option")
      option.value = value
      return option
    }),
  )
}
