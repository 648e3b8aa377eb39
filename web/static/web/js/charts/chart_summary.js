// Text alternative of a chart: the last value and range of each line, the length of each bar. A
// pure function of Plotly traces.
import { toSecond } from "../core/clock.js"
import { number } from "../core/format.js"
import { plain } from "./plotly_text.js"
import { gettext, ngettext } from "../core/texts.js"

const MAX_TRACES = 20
const MAX_BARS = 40

export function summaryOf(data, layout = {}) {
  const shown = data.filter((trace) => trace.hoverinfo !== "skip" && trace.visible !== false)
  const sentences = shown.slice(0, MAX_TRACES).map((trace) => sentence(trace, layout)).filter(Boolean)
  const left = shown.length - MAX_TRACES
  if (left > 0) sentences.push(ngettext("%(count)s more line.", "%(count)s more lines.", left, { count: number(left) }))
  return sentences.length ? sentences.join(" ") : gettext("No data.")
}

function sentence(trace, layout) {
  const name = plain(trace.name ?? "")
  if (trace.type === "bar") return bars(trace, name)
  if (trace.z) return rows(trace.z.length, name || gettext("Heat map"))
  if (!trace.y) return ""
  return line(trace, name, layout[axisName(trace)]?.type === "date")
}

function line({ x, y }, name, isDate) {
  const places = Array.from(y, (_, place) => place).filter((place) => Number.isFinite(y[place]))
  const subject = name || gettext("The line")
  if (!places.length) return gettext("%(line)s: no finite values.", { line: subject })
  let low = Infinity
  let high = -Infinity
  for (const place of places) {
    low = Math.min(low, y[place])
    high = Math.max(high, y[place])
  }
  const last = places.at(-1)
  const count = places.length
  const values = { line: subject, count: number(count), last: number(y[last]), lowest: number(low), highest: number(high) }
  if (!x) {
    return ngettext(
      "%(line)s: %(count)s point, last %(last)s, minimum %(lowest)s, maximum %(highest)s.",
      "%(line)s: %(count)s points, last %(last)s, minimum %(lowest)s, maximum %(highest)s.",
      count, values,
    )
  }
  return ngettext(
    "%(line)s: %(count)s point, last %(last)s at %(place)s, minimum %(lowest)s, maximum %(highest)s.",
    "%(line)s: %(count)s points, last %(last)s at %(place)s, minimum %(lowest)s, maximum %(highest)s.",
    count, { ...values, place: where(x[last], isDate) },
  )
}

function rows(count, name) {
  const values = { name, count: number(count) }
  return ngettext("%(name)s: %(count)s row of values.", "%(name)s: %(count)s rows of values.", count, values)
}

function bars({ text, x }, name) {
  const lengths = text?.length ? Array.from(text, plain) : Array.from(x ?? [], number)
  const bars = lengths.filter(Boolean).slice(0, MAX_BARS)
  return bars.length ? `${name ? `${name}: ` : ""}${bars.join("; ")}.` : ""
}

function where(place, isDate) {
  if (typeof place === "string" && !isDate) return place
  return isDate ? toSecond(place) : number(place)
}

function axisName({ xaxis = "x" }) {
  return `xaxis${xaxis.slice(1)}`
}
