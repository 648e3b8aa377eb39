// Lines of a figure: name, position, summary and smoothed line; `seen` is the highlighted trace of
// the two. Taken from the figure, or derived from its Plotly traces.

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
    // A band belongs to a line, and a smoothed line follows its own line.
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
