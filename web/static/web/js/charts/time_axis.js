// Time axes. Plotly's "date" type shifts the server's UTC milliseconds to the local zone, so a
// linear axis with custom ticks is used: zoom and URL stay in UTC.

import { offsetAt, toSecond, zoneName } from "../core/clock.js"
import { timeTicks } from "./time_ticks.js"
import { gettext } from "../core/texts.js"

// Ticks of a vertical axis may be closer than those of a horizontal one.
const DENSER_DOWN = 2
const Y_AXIS = /^yaxis\d*$/

export const isTime = (figure) => figure.layout.xaxis?.type === "date"
export const isTimeDown = (figure) => figure.layout.yaxis?.type === "date"

// Returns the layout with time ticks for an axis of this width.
export function withTimeAxis({ data, layout }, pixels, range = rangeOf(layout, data)) {
  const { margin, xaxis } = layout
  return {
    ...layout,
    xaxis: {
      ...xaxis,
      ...ticksIn(range, pixels - (margin?.l ?? 0) - (margin?.r ?? 0)),
      type: "linear",
      tickangle: 0,
      title: { ...xaxis.title, text: gettext("time (%(zone)s)", { zone: zoneName() }) },
    },
  }
}

// Returns the figure with time ticks on its vertical axes, which keep their range. The `meta` of
// a trace is its time.
export function withTimeDown({ data, layout }, pixels) {
  const axes = Object.entries(layout).filter(([name]) => Y_AXIS.test(name))
  const changed = axes.map(([name, axis]) => [name, axis.type === "date" ? timeDown(axis, pixels) : axis])
  return { data: data.map(withTimeName), layout: { ...layout, ...Object.fromEntries(changed) } }
}

function timeDown(axis, pixels) {
  const [from, to] = axis.domain ?? [0, 1]
  const range = [...(axis.range ?? [])].sort((one, other) => one - other)
  return {
    ...axis,
    ...(range.length ? ticksIn(range, pixels * (to - from) * DENSER_DOWN) : {}),
    type: "linear",
    title: { ...axis.title, text: gettext("time (%(zone)s)", { zone: zoneName() }) },
  }
}

function withTimeName(trace) {
  if (typeof trace.meta !== "number") return trace
  const time = toSecond(trace.meta)
  return { ...trace, name: time, meta: time }
}

// Updates the ticks after a zoom or resize.
export async function fitTicks(plotly, plot) {
  const { xaxis } = plot._fullLayout
  const { tickvals, ticktext } = ticksIn(xaxis.range, xaxis._length)
  const isSame = tickvals.join() === plot.layout.xaxis.tickvals?.join() && ticktext.join() === plot.layout.xaxis.ticktext.join()
  if (!isSame) await plotly.relayout(plot, { "xaxis.tickvals": tickvals, "xaxis.ticktext": ticktext })
}

function ticksIn(range, pixels) {
  const ticks = timeTicks(range, pixels, offsetAt)
  return { tickmode: "array", tickvals: ticks.map(({ value }) => value), ticktext: ticks.map(({ text }) => text) }
}

// Range of the data if the layout has none.
function rangeOf({ xaxis }, data) {
  if (xaxis.range) return xaxis.range
  let [low, high] = [Infinity, -Infinity]
  for (const { x = [] } of data) {
    for (const place of x) {
      if (place < low) low = place
      if (place > high) high = place
    }
  }
  return [low, high]
}
