// The words of the query language, and how it writes a path or a text.
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*$/u

// What every run has.
export const FIELDS = ["name", "state", "created", "started", "ended", "duration"]
const KEYWORDS = new Set(["and", "or", "not", "contains", "exists", "is", "nan"])

export function isKeyword(word) {
  return KEYWORDS.has(word.toLowerCase())
}

export function isPlain(text) {
  return PLAIN.test(text)
}

export function isQuoted(text) {
  return /^"(?:[^"\\]|\\["\\])*"$/.test(text)
}

export function quoted(text) {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`
}

export function unquoted(text) {
  return isQuoted(text) ? text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : text
}

// In quotes if it is more than a word, or is one of the language.
export function writtenWord(text) {
  return isPlain(text) && !isKeyword(text) ? text : quoted(text)
}
