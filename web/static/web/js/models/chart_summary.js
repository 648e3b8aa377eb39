// What a chart shows, in words, for whoever does not see it: each line with its last value
// and its range, each bar with its length. A function of Plotly's traces.
import { number } from "./format.js"

const MOST_TRACES = 20
const MOST_BARS = 40
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" }

export function summaryOf(data, layout = {}) {
  const shown = data.filter((trace) => trace.hoverinfo !== "skip" && trace.visible !== false)
  const said = shown.slice(0, MOST_TRACES).map((trace) => sentence(trace, layout)).filter(Boolean)
  const left = shown.length - MOST_TRACES
  if (left > 0) said.push(`${number(left)} more lines.`)
  return said.length ? said.join(" ") : "Nothing is drawn."
}

function sentence(trace, layout) {
  const name = plain(trace.name ?? "")
  if (trace.type === "bar") return bars(trace, name)
  if (trace.z) return `${name || "A map"}: ${number(trace.z.length)} rows of values.`
  if (!trace.y) return ""
  return line(trace, name, layout[axisName(trace)]?.type === "date")
}

function line({ x, y }, name, isDate) {
  const places = Array.from(y, (_, place) => place).filter((place) => Number.isFinite(y[place]))
  const subject = name || "The line"
  if (!places.length) return `${subject}: no value that can be drawn.`
  let low = Infinity
  let high = -Infinity
  for (const place of places) {
    low = Math.min(low, y[place])
    high = Math.max(high, y[place])
  }
  const last = places.at(-1)
  const at = x ? ` at ${where(x[last], isDate)}` : ""
  const count = places.length === 1 ? "1 point" : `${number(places.length)} points`
  return `${subject}: ${count}, last ${number(y[last])}${at}, lowest ${number(low)}, highest ${number(high)}.`
}

function bars({ text, x }, name) {
  const lengths = text?.length ? Array.from(text, plain) : Array.from(x ?? [], number)
  const said = lengths.filter(Boolean).slice(0, MOST_BARS)
  return said.length ? `${name ? `${name}: ` : ""}${said.join("; ")}.` : ""
}

function where(place, isDate) {
  if (typeof place === "string" && !isDate) return place
  return isDate ? new Date(place).toISOString().slice(0, 19).replace("T", " ") : number(place)
}

function axisName({ xaxis = "x" }) {
  return `xaxis${xaxis.slice(1)}`
}

// Names were escaped for Plotly, which reads every text as HTML.
function plain(text) {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity])
}
