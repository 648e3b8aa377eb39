// Legend of a full-screen or exported chart.

import { linesOf } from "./figure_lines.js"

const LEGEND = { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom" }

export const namesOf = (figure) => linesOf(figure).map(({ name }) => name).join(", ")

// Shows each line once in the legend, or none.
export function nameLines(figure, data, hasLegend) {
  for (const { trace, seen } of linesOf(figure)) {
    data[trace].showlegend = false
    data[seen].showlegend = hasLegend
  }
}

// Returns the layout with a legend above the plot if there are several lines.
export function withLegend(figure, data, layout) {
  if (figure.rows || layout.showlegend || linesOf(figure).length < 2) return layout
  nameLines(figure, data, true)
  return { ...layout, showlegend: true, legend: { ...layout.legend, ...LEGEND } }
}
