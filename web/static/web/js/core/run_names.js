// Truncates run names where they are equal, so that the differences stay visible.
import { createElement } from "./elements.js"

// The dash of an exponent, as in 1e-4, separates nothing.
const TOKENS = /(?:(?<=\d)[eE]-(?=\d)|[^-_/\s,;:=])+[-_/\s,;:=]*|[-_/\s,;:=]+/g
// Shorter parts are not truncated.
const SHORTEST_CUT = 5
// Characters that stay at the end of a name that shares no parts.
const END = 14

export class RunNames {
  #shapes = new Map() // "first token, number of tokens" → for each place, its token, or null if tokens differ

  #ofAll = new Map() // first token → the tokens of all names that begin with it

  constructor(names = []) {
    for (const name of new Set(names)) this.#add(name)
  }

  // Returns the parts of a name in order: { text, isCommon }.
  partsOf(name) {
    const tokens = tokensOf(name)
    const shape = this.#shapes.get(shapeOf(tokens)) ?? tokens
    const ofAll = this.#ofAll.get(tokens[0]) ?? new Set(tokens)
    const parts = []
    for (const [place, text] of tokens.entries()) {
      const isCommon = shape[place] === text && ofAll.has(text)
      const last = parts.at(-1)
      if (last?.isCommon === isCommon) last.text += text
      else parts.push({ text, isCommon })
    }
    if (parts.every(({ isCommon }) => isCommon)) {
      const cut = name.length - END < SHORTEST_CUT ? 0 : name.length - END
      parts.splice(0, parts.length, { text: name.slice(0, cut), isCommon: true }, { text: name.slice(cut), isCommon: false })
    } else this.#splitEnd(parts, tokens.at(-1))
    return parts.map(({ text, isCommon }) => ({ text, isCommon: isCommon && text.length >= SHORTEST_CUT }))
  }

  // The end, such as a seed, is kept before other parts.
  #splitEnd(parts, end) {
    const { text, isCommon } = parts.at(-1)
    if (isCommon || text === end) return
    parts.splice(-1, 1, { text: text.slice(0, -end.length), isCommon }, { text: end, isCommon })
  }

  #add(name) {
    const tokens = tokensOf(name)
    const known = this.#ofAll.get(tokens[0]) ?? new Set(tokens)
    this.#ofAll.set(tokens[0], new Set(tokens.filter((token) => known.has(token))))
    const key = shapeOf(tokens)
    const shape = this.#shapes.get(key)
    this.#shapes.set(key, shape ? shape.map((token, place) => (token === tokens[place] ? token : null)) : tokens)
  }
}

// Returns the children of an element of the class "cut"; their text is the whole name.
export function nameParts(names, name) {
  return names.partsOf(name).filter(({ text }) => text).map(({ text, isCommon }) => createElement("span", isCommon ? "cut__common" : "cut__own", text))
}

function tokensOf(name) {
  return name.match(TOKENS) ?? []
}

function shapeOf(tokens) {
  return `${tokens.length} ${tokens[0]}`
}
