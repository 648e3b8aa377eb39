// Converts between a query and rows of attribute, operator and value. Only conditions joined by
// "and" can be rows.
import { isKeyword, isPlain, isQuoted, quoted, unquoted, writtenWord } from "./query_words.js"
import { gettext } from "../core/texts.js"

const TOKEN = /\s*(?:("(?:[^"\\]|\\["\\])*")|(<=|>=|!=|<|>|=|~)|([()])|([^\s()"<>=!~]+))/y
const SUMMARY = /^(last|min|max|mean|count|first_step|last_step)\((.+)\)$/su
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/
const INFINITY = /^[+-]?inf$/
const DURATION = /^[+-]?\d+(\.\d+)?[smhdw]$/
const DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/

export const OPERATORS = [
  ["<", "<"],
  ["<=", "≤"],
  [">", ">"],
  [">=", "≥"],
  ["=", gettext("is")],
  ["!=", gettext("is not")],
  ["~", gettext("contains")],
  ["contains", gettext("has")],
  ["exists", gettext("is set")],
  ["not exists", gettext("is not set")],
  ["is nan", gettext("is NaN")],
]
const SIGNS = new Map(OPERATORS)
const WITHOUT_VALUE = new Set(["exists", "not exists", "is nan"])

export function needsValue(operator) {
  return !WITHOUT_VALUE.has(operator)
}

// Display text of a filter, for example "train/loss ≤ 0.3".
export function labelOfRow({ operand, operator, value }) {
  const sign = SIGNS.get(operator) ?? operator
  return needsValue(operator) ? `${operand} ${sign} ${value}` : `${operand} ${sign}`
}

// Returns the rows, empty for an empty query; null if the query cannot be converted.
export function rowsOf(text) {
  const tokens = tokensOf(text)
  if (tokens === null) return null
  const rows = []
  while (tokens.length) {
    const row = parseRow(tokens)
    if (row === null) return null
    rows.push(row)
    if (tokens.length && (!isWord(tokens.shift(), "and") || !tokens.length)) return null
  }
  return rows
}

export function textOf(rows) {
  return rows.filter(isWhole).map(written).join(" and ")
}

function isWhole({ operand, operator, value }) {
  return Boolean(operand.trim()) && (!needsValue(operator) || value.trim() !== "")
}

function written({ operand, operator, value }) {
  const path = writtenOperand(operand.trim(), operator)
  if (operator === "exists" || operator === "not exists") return `${operator} ${path}`
  if (operator === "is nan") return `${path} is nan`
  const isText = operator === "~" || operator === "contains"
  return `${path} ${operator} ${isText ? quoted(unquoted(value.trim())) : writtenValue(value.trim())}`
}

function writtenOperand(text, operator) {
  const summary = SUMMARY.exec(text)
  if (summary && needsValue(operator)) return `${summary[1]}(${writtenPath(summary[2].trim())})`
  return writtenPath(text)
}

function writtenPath(path) {
  return isQuoted(path) ? path : writtenWord(path)
}

function writtenValue(value) {
  return isQuoted(value) || isPlainValue(value) ? value : writtenWord(value)
}

// Unquoted, these values are not strings.
function isPlainValue(value) {
  return [NUMBER, INFINITY, DURATION, DATE].some((form) => form.test(value))
}

function tokensOf(text) {
  const tokens = []
  TOKEN.lastIndex = 0
  const whole = text.trimEnd()
  while (TOKEN.lastIndex < whole.length) {
    const found = TOKEN.exec(whole)
    if (!found) return null
    const [, string, operator, bracket, word] = found
    tokens.push({ kind: string ? "text" : operator ? "operator" : bracket ? "bracket" : "word", text: string ?? operator ?? bracket ?? word })
  }
  return tokens
}

function parseRow(tokens) {
  const isNegated = isWord(tokens[0], "not")
  if (isNegated) tokens.shift()
  if (isWord(tokens[0], "exists")) {
    tokens.shift()
    const path = parsePath(tokens)
    return path === null ? null : { operand: path, operator: isNegated ? "not exists" : "exists", value: "" }
  }
  if (isNegated) return null
  const operand = parseOperand(tokens)
  const operator = operand === null ? null : parseOperator(tokens)
  if (operator === null) return null
  if (!needsValue(operator)) return { operand, operator, value: "" }
  const value = tokens.shift()
  if (value?.kind !== "word" && value?.kind !== "text") return null
  // Arithmetic such as b*2 would become a string.
  if (value.kind === "word" && !isPlain(value.text) && !isPlainValue(value.text)) return null
  return { operand, operator, value: shownValue(value.text) }
}

function parseOperand(tokens) {
  const first = tokens.shift()
  if (first?.kind === "word" && tokens[0]?.text === "(") {
    tokens.shift()
    const path = parsePath(tokens)
    return path !== null && tokens.shift()?.text === ")" ? `${first.text}(${path})` : null
  }
  tokens.unshift(first)
  return parsePath(tokens)
}

function parsePath(tokens) {
  const token = tokens.shift()
  if (token?.kind === "text") return shownPath(token.text)
  return token?.kind === "word" && isPlain(token.text) && !isKeyword(token.text) ? token.text : null
}

function parseOperator(tokens) {
  const token = tokens.shift()
  if (token?.kind === "operator") return token.text
  if (isWord(token, "contains")) return "contains"
  return isWord(token, "is") && isWord(tokens.shift(), "nan") ? "is nan" : null
}

// Drops quotes that are added back automatically, but keeps those of an attribute named like a run
// field.
function shownPath(text) {
  const path = unquoted(text)
  return isPlain(path) || isQuoted(path) || SUMMARY.test(path) ? text : path
}

function shownValue(text) {
  if (!isQuoted(text)) return text
  const value = unquoted(text)
  const isTaken = isPlainValue(value) || ["true", "false"].includes(value) || value !== value.trim() || isQuoted(value)
  return isTaken || value === "" ? text : value
}

function isWord(token, word) {
  return token?.kind === "word" && token.text.toLowerCase() === word
}
