// Saves the visible points of a chart.

import { linesOf } from "../charts/figure_lines.js"
import { plain } from "../charts/plotly_text.js"
import { pointsCsv } from "./points_csv.js"
import { fileNameOf } from "../chart_page/chart_names.js"
import { saveFile } from "./chart_files.js"

export function savePoints(chart) {
  const { axis, over, layout } = chart.figure
  const isTime = layout.xaxis?.type === "date"
  const places = over || (isTime ? "time" : (axis ?? plain(layout.xaxis?.title?.text ?? "x")))
  const csv = pointsCsv(linesOf(chart.figure), { places, isTime })
  saveFile(new Blob([csv], { type: "text/csv;charset=utf-8" }), `${fileNameOf(chart.element)}.csv`)
}
