// Columns of the runs table and how their cells are filled.
import { full, short, toSecond, zoneName } from "../core/clock.js"
import { icon, createElement } from "../core/elements.js"
import { duration, number, paddedNumber, percent, usesAllDigits } from "../core/format.js"
import { gettext } from "../core/texts.js"

const SEVERITY_ICONS = { notice: "info", warning: "triangle-alert", critical: "circle-alert" }
// Keys match the server's Verdict enum.
const VERDICTS = {
  well: [gettext("no problems found"), gettext("Enough rules had data, and none found a problem")],
  unexplained: [gettext("no cause found"), gettext("Much time is lost inside steps, and no rule explains it")],
  unknown: [gettext("not enough data"), gettext("Most rules lack a measurement; the run page lists which")],
  "not diagnosed": [gettext("not diagnosed"), gettext("The diagnosis runs during training and when a stage ends")],
}
export const MIN_WIDTH = 48
const MIN_AUTO_WIDTH = 84
const MAX_AUTO_WIDTH = 190
export const MAX_WIDTH = 900
const CHARACTER = 6.5
const PADDING = 32
// Empty columns are narrow.
const WIDTH_OF_NO_TAGS = 60
const WIDTH_OF_DIFFERENCE = 50
const TAG_PADDING = 18
const ROOM_FOR_REST = 22
const SUMMARIES = ["min", "max", "mean", "count", "first_step", "last_step"]
// Kind of a column in the response: neither a field of the run nor a parameter.
const METRIC = "metric"
const JOULES_OF_A_KILOWATT_HOUR = 3.6e6
let read = { element: null, avatars: {} }
// Fields that runs can be grouped by, in addition to attributes.
const GROUPED_BY = ["state", "made_by", "finding", "tags"]

export const RUN_FIELDS = {
  state: { label: gettext("State"), width: 128, fill: fillState },
  started: { label: gettext("Started"), hint: zoned(gettext("Started")), width: 114, fill: fillMoment },
  duration: { label: gettext("Duration"), width: 106, isNumeric: true, hint: gettext("Time in which stages ran, without pauses"), format: duration, fill: fillDuration },
  wall_time: { label: gettext("Wall time"), width: 106, isNumeric: true, hint: gettext("Time from start to end"), format: duration, fill: fillWallTime },
  stages: { label: gettext("Stages"), width: 192, fill: fillStages },
  tags: { label: gettext("Tags"), width: 160, fill: fillTags },
  finding: { label: gettext("Main finding"), width: 264, fill: fillFinding },
  gpu: { label: gettext("GPU (run)"), hint: gettext("Mean GPU utilization over all stages"), width: 84, isNumeric: true, isShare: true, format: percent, fill: fillShare },
  cpu: { label: gettext("CPU (run)"), hint: gettext("Mean utilization of the job's CPU cores over all stages"), width: 84, isNumeric: true, isShare: true, format: percent, fill: fillShare },
  gpu_idle: { label: gettext("GPU idle"), hint: gettext("Share of GPU time without computation"), width: 92, isNumeric: true, isShare: true, format: percent, fill: fillShare },
  gpu_hours: { label: gettext("GPU hours"), hint: gettext("Allocated GPUs × hours"), width: 96, isNumeric: true, fill: fillValue },
  energy: { label: gettext("Energy"), hint: gettext("Energy used by GPUs that report it, in kWh"), width: 116, isNumeric: true, format: kilowattHours, fill: fillEnergy },
  created: { label: gettext("Created"), hint: zoned(gettext("Created")), width: 114, fill: fillMoment },
  ended: { label: gettext("Ended"), hint: zoned(gettext("Ended")), width: 114, fill: fillMoment },
  made_by: { label: gettext("Created by"), width: 140, fill: fillMaker },
}

// Columns to the right of the name, in the order of the response; with `isMetricFirst`, the first
// metric comes before the rest. `place` is the index in the response.
export function columnsFor(found, rows, { widths, pinned, isCompared, isMetricFirst }) {
  let left = 0
  const ordered = found.map((column, place) => ({ ...column, place }))
  const metric = isMetricFirst ? ordered.findIndex(({ kind }) => kind === METRIC) : -1
  if (metric > 0) ordered.unshift(...ordered.splice(metric, 1))
  return ordered.map(({ key, kind, place }, at) => {
    const column = Object.hasOwn(RUN_FIELDS, key)
      ? { ...RUN_FIELDS[key] }
      : attributeColumn(key, place, rows)
    if (key === "tags" && !rows.some((row) => row.values[place]?.length)) column.width = WIDTH_OF_NO_TAGS
    if (isCompared && column.isNumeric && !column.isShare) column.width += WIDTH_OF_DIFFERENCE
    if (widths.get(key)) column.width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, widths.get(key)))
    const isPinned = place < pinned
    const shown = {
      ...column,
      key,
      kind,
      place,
      isPinned,
      left,
      startsGroup: at > 0 && ordered[at - 1].kind !== kind,
    }
    if (isPinned) left += column.width
    return shown
  })
}

// Returns the path and summary of a column key; a plain path means "last".
function attributeOf(key) {
  const colon = key.indexOf(":")
  const mark = key.slice(0, colon)
  if (colon < 1 || Object.hasOwn(RUN_FIELDS, key)) return null
  if (mark === "path") return { path: key.slice(colon + 1), summary: "last" }
  return SUMMARIES.includes(mark) ? { path: key.slice(colon + 1), summary: mark } : null
}

function zoned(label) {
  return `${label} (${zoneName()})`
}

// Only columns with a filter condition can group runs.
export function canGroup(key) {
  return GROUPED_BY.includes(key) || attributeOf(key)?.summary === "last"
}

export function labelOf(key) {
  if (Object.hasOwn(RUN_FIELDS, key)) return RUN_FIELDS[key].label
  const { path, summary } = attributeOf(key) ?? { path: key, summary: "last" }
  return summary === "last" ? path : `${summary}(${path})`
}

function attributeColumn(key, place, rows) {
  const { path, summary } = attributeOf(key)
  const label = path.replace(/^params\//, "")
  const values = rows.map((row) => row.values[place])
  const length = label.length + (summary === "last" ? 0 : summary.length + 1)
  return {
    label,
    note: summary === "last" ? "" : summary.replace("_", " "),
    hint: labelOf(key),
    width: Math.round(Math.min(MAX_AUTO_WIDTH, Math.max(MIN_AUTO_WIDTH, length * CHARACTER + PADDING))),
    isNumeric: summary !== "last" || values.every((value) => value === null || typeof value === "number" || value?.special || value?.none),
    fill: values.some((value) => typeof value === "number" && usesAllDigits(value)) ? fillPadded : fillValue,
  }
}

// Icon of the state, with its name as tooltip and for screen readers.
export function stateSign(row, now) {
  if (row.silent !== null) {
    const sign = document.createElement("span")
    sign.className = "runs-grid__severity--warning"
    sign.title = silentHint(row, now)
    sign.append(icon("triangle-alert"), hidden(sign.title))
    return sign
  }
  const sign = chip("", `chip--plain chip--${row.state}`)
  sign.title = row.state
  sign.replaceChildren(hidden(row.state))
  return sign
}

function silentHint(row, now) {
  const time = duration(Math.max(0, Math.round((now - row.silent) / 1_000)))
  return gettext("running, but not responding for %(time)s", { time })
}

// A run that stopped responding shows only the warning; the tooltip adds that it is running.
function fillState(cell, value, row, now) {
  if (row.silent === null) {
    cell.title = ""
    return cell.replaceChildren(chip(value, `chip--${value}`))
  }
  const sign = chip(gettext("not responding"), "chip--warning")
  sign.firstChild.setAttribute("aria-hidden", "true")
  sign.prepend(icon("triangle-alert"))
  cell.title = silentHint(row, now)
  cell.replaceChildren(sign, hidden(cell.title))
}

function fillMoment(cell, value) {
  if (value === null) return fillText(cell, "–")
  fillText(cell, short(value.time), full(value.time))
}

function fillDuration(cell, _, row, now) {
  const [seconds, since] = row.active
  fillSeconds(cell, since === null ? seconds : seconds + passed(since, now))
}

function fillWallTime(cell, _, row, now) {
  fillSeconds(cell, row.started === null ? null : passed(row.started, row.ended ?? now))
}

// Running stages count in whole seconds.
function passed(from, to) {
  const seconds = Math.max(0, (to - from) / 1_000)
  return seconds < 1 ? seconds : Math.round(seconds * 10) / 10
}

function fillSeconds(cell, seconds) {
  fillText(cell, duration(seconds))
}

function fillStages(cell, stages) {
  cell.replaceChildren(
    ...stages.map(([name, state]) => {
      const sign = chip(name, `chip--plain chip--${state}`)
      sign.title = `${name}: ${state}`
      sign.append(hidden(` ${state}`))
      return sign
    }),
  )
}

function fillTags(cell, tags, _row, _now, column) {
  const shown = tags.slice(0, fitting(tags, column.width - 20))
  const rest = tags.slice(shown.length)
  cell.replaceChildren(...shown.map((tag) => chip(tag)))
  if (rest.length) cell.append(muted(`+${rest.length}`), hidden(rest.join(", ")))
  cell.title = tags.join(", ")
}

// Estimated, because measuring each row would force a layout during scrolling.
function fitting(tags, width) {
  let room = width
  for (const [place, tag] of tags.entries()) {
    room -= tag.length * CHARACTER + TAG_PADDING
    const needed = place + 1 < tags.length ? ROOM_FOR_REST : 0
    if (room < needed && place > 0) return place
  }
  return tags.length
}

function fillFinding(cell, finding) {
  if (!finding) return fillText(cell, "")
  const { severity, title, verdict, possible } = finding
  if (verdict) return fillVerdict(cell, verdict)
  if (possible) return fillPossible(cell, title)
  const text = document.createElement("span")
  text.className = "clip"
  text.textContent = title
  const sign = icon(Object.hasOwn(SEVERITY_ICONS, severity) ? SEVERITY_ICONS[severity] : "info")
  sign.classList.add(`runs-grid__severity--${severity}`)
  cell.replaceChildren(sign, hidden(`${severity}: `), text)
  cell.title = title
}

function fillPossible(cell, title) {
  const text = document.createElement("span")
  text.className = "clip muted"
  text.textContent = gettext("possible: %(title)s", { title })
  cell.replaceChildren(icon("circle-help"), text)
  cell.title = `${text.textContent}\n${gettext("The evidence is weak")}`
}

function fillVerdict(cell, verdict) {
  const [text, title] = VERDICTS[verdict]
  const label = document.createElement("span")
  label.className = "muted"
  label.textContent = text
  const sign = verdict === "well" ? [icon("circle-check")] : []
  cell.replaceChildren(...sign, label)
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

function fillEnergy(cell, value) {
  if (value === null) return fillText(cell, "–")
  fillText(cell, kilowattHours(value), `${number(value)} J`)
}

function kilowattHours(joules) {
  return `${number(Number((joules / JOULES_OF_A_KILOWATT_HOUR).toPrecision(3)))} kWh`
}

function fillValue(cell, value) {
  const [text, title] = texts(value)
  fillText(cell, text, title)
  if (value?.none) cell.classList.add("muted")
}

function fillPadded(cell, value) {
  if (typeof value !== "number") return fillValue(cell, value)
  fillText(cell, paddedNumber(value), String(value))
}

// Avatar and name; users missing from the page show their username.
function fillMaker(cell, username) {
  const known = avatars()[username]
  if (!known) return fillValue(cell, username)
  const avatar = createElement("span", `avatar avatar--small ${known.classes}`, known.initials)
  avatar.setAttribute("aria-hidden", "true")
  const person = createElement("span", "person")
  person.append(avatar, createElement("span", "clip", known.name))
  cell.replaceChildren(person)
  cell.title = username
}

// Cached per page, because cells are filled during scrolling.
function avatars() {
  const element = document.getElementById("avatars")
  if (element !== read.element) read = { element, avatars: element ? JSON.parse(element.textContent) : {} }
  return read.avatars
}

// Returns the displayed text and the full text for the tooltip.
export function texts(value) {
  if (value === null || value === undefined) return ["–", ""]
  if (typeof value === "number") return [number(value), String(value)]
  if (Array.isArray(value)) return [value.join(", "), value.join(", ")]
  if (typeof value === "object") {
    if (value.none) return ["None", "None"]
    if (value.special) return [value.special, value.special]
    return [toSecond(value.time), full(value.time)]
  }
  return [String(value), String(value)]
}

// User-defined names are never parsed as markup.
export function fillText(cell, text, title = "") {
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
