// Keywords of the query language, and quoting of paths and strings.
import { gettext } from "../core/texts.js"

const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*$/u

// Fields of runs and their units.
const UNITS = {
  gpu: gettext("percent, whole run"),
  cpu: gettext("percent, whole run"),
  gpu_idle: gettext("percent"),
  gpu_hours: gettext("hours"),
  energy: gettext("kilowatt-hours"),
}
export const FIELDS = ["name", "state", "finding", "made_by", "parent", "forked_from", "created", "started", "ended", "duration", "wall_time", ...Object.keys(UNITS)]
const KEYWORDS = new Set(["and", "or", "not", "contains", "exists", "is", "nan"])

export function isKeyword(word) {
  return KEYWORDS.has(word.toLowerCase())
}

// The unit of a run field, or "".
export function unitOf(field) {
  return Object.hasOwn(UNITS, field) ? UNITS[field] : ""
}

// Attributes named like a run field are quoted.
export function writtenPath(path) {
  return FIELDS.includes(path) ? quoted(path) : writtenWord(path)
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

// Quotes anything but a plain word, and keywords.
export function writtenWord(text) {
  return isPlain(text) && !isKeyword(text) ? text : quoted(text)
}
