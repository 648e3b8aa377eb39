// Splits terminal output into text with style names. Never yields markup; escape sequences other
// than styles are dropped.

const INSTRUCTION = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g
const STYLES = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" }

export function plain(text) {
  return text.includes("\x1b") ? text.replace(INSTRUCTION, "") : text
}

export function pieces(text) {
  if (!text.includes("\x1b")) return text ? [{ text, styles: [] }] : []
  const found = []
  let style = { colour: null, on: new Set() }
  let place = 0
  const add = (end) => {
    if (end > place) found.push({ text: text.slice(place, end), styles: named(style) })
  }
  for (const match of text.matchAll(INSTRUCTION)) {
    add(match.index)
    place = match.index + match[0].length
    if (match[2] === "m") style = changed(style, match[1])
  }
  add(text.length)
  return found
}

function changed(style, parameters) {
  let { colour, on } = { colour: style.colour, on: new Set(style.on) }
  const codes = parameters.split(/[;:]/).map(Number)
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index]
    if (code === 0) [colour, on] = [null, new Set()]
    else if (code in STYLES) on.add(code)
    else if (code === 22) [1, 2].forEach((each) => on.delete(each))
    else if (code === 23 || code === 24) on.delete(code - 20)
    else if (code >= 30 && code <= 37) colour = code - 30
    else if (code >= 90 && code <= 97) colour = code === 90 ? 8 : code - 90
    else if (code === 39) colour = null
    else if (code === 38 || code === 48) {
      // 256-color and true-color codes: only the first sixteen colors have a style.
      const isFew = codes[index + 1] === 5
      const value = codes[index + 2]
      if (code === 38) colour = isFew && value < 16 ? (value === 8 ? 8 : value % 8) : null
      index += isFew ? 2 : 4
    }
  }
  return { colour, on }
}

function named({ colour, on }) {
  const styles = [...on].map((code) => STYLES[code])
  // Black and white map to the text color.
  return colour === null || colour === 0 || colour === 7 ? styles : [...styles, String(colour)]
}
