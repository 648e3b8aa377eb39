// The legend of a chart that stands by itself: on the full window, and in a picture.

import { linesOf } from "./figure_lines.js"

const LEGEND = { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom" }

export const namesOf = (figure) => linesOf(figure).map(({ name }) => name).join(", ")

// Has Plotly name each line once, or none.
export function nameLines(figure, data, hasLegend) {
  for (const { trace, seen } of linesOf(figure)) {
    data[trace].showlegend = false
    data[seen].showlegend = hasLegend
  }
}

// Returns the layout with a legend above the lines, if there are several.
export function withLegend(figure, data, layout) {
  if (figure.rows || layout.showlegend || linesOf(figure).length < 2) return layout
  nameLines(figure, data, true)
  return { ...layout, showlegend: true, legend: { ...layout.legend, ...LEGEND } }
}
