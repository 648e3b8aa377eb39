// Time axes. Plotly's "date" type shifts the server's UTC milliseconds to the local zone, so a
// linear axis with custom ticks is used: zoom and URL stay in UTC.

import { offsetAt, zoneName } from "../core/clock.js"
import { timeTicks } from "./time_ticks.js"
import { gettext } from "../core/texts.js"

export const isTime = (figure) => figure.layout.xaxis?.type === "date"

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
