// What each column of the runs table shows, and how a cell is filled.
import { duration, number, percent } from "./format.js"

const STARTED = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})
const STARTED_IN_ANOTHER_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
})
const SEVERITY_ICONS = { notice: "info", warning: "triangle-alert", critical: "circle-alert" }
const NARROWEST = 84
const WIDEST = 190
const CHARACTER = 6.5
const PADDING = 32
// Columns that are empty in all rows need no room.
const WIDTH_OF_NO_TAGS = 60
// What fits into a cell of tags; the first is shown however long it is.
const ROOM_FOR_TAGS = 140
const TAG_PADDING = 18
const ROOM_FOR_REST = 22

const FIXED = [
  { key: "state", label: "State", width: 94, fill: fillState },
  { key: "started", label: "Started", width: 114, fill: fillStarted },
  { key: "duration", label: "Duration", width: 106, isNumeric: true, fill: fillDuration },
  { key: "stages", label: "Stages", width: 192, fill: fillStages },
  { key: "tags", label: "Tags", width: 160, fill: fillTags },
  { key: "finding", label: "Main finding", width: 264, fill: fillFinding },
  { key: "gpu", label: "GPU", hint: "Mean GPU utilisation", width: 84, isNumeric: true, fill: (cell, row) => fillShare(cell, row.gpu) },
  { key: "cpu", label: "CPU", hint: "Mean use of the job's cores", width: 84, isNumeric: true, fill: (cell, row) => fillShare(cell, row.cpu) },
]

// The columns to the right of the name; `found` are those the runs themselves have.
export function columnsFor(found, rows) {
  const hasTags = rows.some((row) => row.tags.length > 0)
  const fixed = FIXED.map((column) =>
    column.key === "tags" && !hasTags ? { ...column, width: WIDTH_OF_NO_TAGS } : column,
  )
  return [...fixed, ...found.map((column, position) => attributeColumn(column, position, found, rows))]
}

function attributeColumn({ key, kind }, position, found, rows) {
  const path = key.slice("path:".length)
  const label = kind === "param" ? path.replace(/^params\//, "") : path
  return {
    key,
    label,
    hint: path,
    width: Math.round(Math.min(WIDEST, Math.max(NARROWEST, label.length * CHARACTER + PADDING))),
    isNumeric: rows.every((row) => row.values[position] === null || typeof row.values[position] === "number" || row.values[position]?.special),
    startsGroup: position === 0 || found[position - 1].kind !== kind,
    fill: (cell, row) => fillValue(cell, row.values[position]),
  }
}

function fillState(cell, row) {
  cell.replaceChildren(chip(row.state, `chip--${row.state}`))
}

function fillStarted(cell, row) {
  if (row.started === null) return fillText(cell, "–")
  const moment = new Date(row.started)
  const isThisYear = moment.getFullYear() === new Date().getFullYear()
  const format = isThisYear ? STARTED : STARTED_IN_ANOTHER_YEAR
  fillText(cell, format.format(moment), moment.toLocaleString())
}

function fillDuration(cell, row, now) {
  if (row.started === null) return fillText(cell, "–")
  const end = row.ended ?? Math.max(now, row.started)
  fillText(cell, duration(Math.round((end - row.started) / 1_000)))
}

function fillStages(cell, row) {
  cell.replaceChildren(
    ...row.stages.map(([name, state]) => {
      const sign = chip(name, `chip--plain chip--${state}`)
      sign.title = `${name}: ${state}`
      sign.append(hidden(` ${state}`))
      return sign
    }),
  )
}

function fillTags(cell, row) {
  const shown = row.tags.slice(0, fitting(row.tags))
  const rest = row.tags.slice(shown.length)
  cell.replaceChildren(...shown.map((tag) => chip(tag)))
  if (rest.length) cell.append(muted(`+${rest.length}`), hidden(rest.join(", ")))
  cell.title = row.tags.join(", ")
}

// Measuring would cost a layout for each row that scrolls by; letters are counted instead.
function fitting(tags) {
  let room = ROOM_FOR_TAGS
  for (const [place, tag] of tags.entries()) {
    room -= tag.length * CHARACTER + TAG_PADDING
    const needed = place + 1 < tags.length ? ROOM_FOR_REST : 0
    if (room < needed && place > 0) return place
  }
  return tags.length
}

function fillFinding(cell, row) {
  if (row.finding === null) return fillText(cell, "")
  const { severity, title } = row.finding
  const text = document.createElement("span")
  text.className = "clip"
  text.textContent = title
  const sign = icon(Object.hasOwn(SEVERITY_ICONS, severity) ? SEVERITY_ICONS[severity] : "info")
  sign.classList.add(`runs-grid__severity--${severity}`)
  cell.replaceChildren(sign, hidden(`${severity}: `), text)
  cell.title = title
}

function fillShare(cell, value) {
  const bar = document.createElement("span")
  bar.className = "runs-grid__bar"
  bar.style.setProperty("--share", `${Math.min(100, Math.max(0, value ?? 0))}%`)
  const text = document.createElement("span")
  text.textContent = percent(value)
  cell.replaceChildren(...(value === null ? [text] : [bar, text]))
}

function fillValue(cell, value) {
  if (value === null) return fillText(cell, "–")
  if (typeof value === "number") return fillText(cell, number(value), String(value))
  if (Array.isArray(value)) return fillText(cell, value.join(", "), value.join(", "))
  if (typeof value === "object") {
    const text = value.special ?? new Date(value.time).toLocaleString()
    return fillText(cell, text, text)
  }
  fillText(cell, String(value), String(value))
}

// Names are text, whatever they look like: nothing here reads markup.
function fillText(cell, text, title = "") {
  if (cell.textContent !== text || cell.firstElementChild) cell.textContent = text
  if (cell.title !== title) cell.title = title
  cell.classList.toggle("muted", text === "–")
}

function chip(text, kind = "") {
  const sign = document.createElement("span")
  sign.className = `chip ${kind}`
  const label = document.createElement("span")
  label.textContent = text
  sign.append(label)
  return sign
}

function muted(text) {
  const note = document.createElement("span")
  note.className = "muted small"
  note.setAttribute("aria-hidden", "true")
  note.textContent = text
  return note
}

function hidden(text) {
  const note = document.createElement("span")
  note.className = "visually-hidden"
  note.textContent = text
  return note
}

function icon(name) {
  const SVG = "http://www.w3.org/2000/svg"
  const image = document.createElementNS(SVG, "svg")
  image.setAttribute("class", "icon icon--small")
  image.setAttribute("aria-hidden", "true")
  const use = document.createElementNS(SVG, "use")
  use.setAttribute("href", `${document.body.dataset.icons}#${name}`)
  image.append(use)
  return image
}
