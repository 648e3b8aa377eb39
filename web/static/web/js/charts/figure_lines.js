// The lines of a figure: their names and places, what they summarise, and the smooth ones;
// `seen` is the trace that stands out, of a line and its smooth one.
// Figures that name their lines say so themselves; of others Plotly's traces tell it.

import { plain } from "./plotly_text.js"

export function linesOf(figure) {
  return figure.lines ? named(figure) : found(figure.data)
}

function named({ data, lines }) {
  return lines.map(({ name, trace, smooth, low = null, high = null }) => ({
    name,
    trace,
    seen: smooth ?? trace,
    x: data[trace].x,
    y: data[trace].y,
    smooth: smooth === undefined ? null : data[smooth].y,
    low,
    high,
  }))
}

function found(data) {
  const lines = []
  data.forEach(({ name, x, y, fill, hoverinfo, customdata }, trace) => {
    // A band is the edge of a line, and a smooth line comes right after its own.
    if (fill || !x || !y) return
    if (hoverinfo === "skip") {
      if (lines.length) Object.assign(lines.at(-1), { smooth: y, seen: trace })
      return
    }
    const ends = customdata?.length ? customdata : null
    lines.push({
      name: plain(name ?? ""),
      trace,
      seen: trace,
      x,
      y,
      smooth: null,
      low: ends && Array.from(ends, ([low]) => low),
      high: ends && Array.from(ends, ([, high]) => high),
    })
  })
  return lines
}
