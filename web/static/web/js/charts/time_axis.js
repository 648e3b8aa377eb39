// Axes of time. The server gives them in milliseconds since 1970 as Plotly's "date", which
// Plotly itself reads in the browser's zone: a linear axis with ticks of ours keeps instants
// what they are, under zoom and in the address.

import { offsetAt, zoneName } from "../core/clock.js"
import { timeTicks } from "./time_ticks.js"
import { gettext } from "../core/texts.js"

export const isTime = (figure) => figure.layout.xaxis?.type === "date"

// Returns the layout with its horizontal axis as Plotly shall draw it, so many pixels wide.
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

// Fits the ticks to the range and the width that the axis has now.
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

// Where the lines begin and end, if the layout does not say.
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
