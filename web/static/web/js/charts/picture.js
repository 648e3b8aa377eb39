// Saves a chart as a picture, with the names that the page shows around it.

import { themed } from "./colours.js"
import { loadPlotly } from "./plotly.js"

const LEAST_WIDTH = 900
const LEAST_HEIGHT = 480
const TOP_PIXELS = 44

export async function savePicture(chart, format) {
  const plotly = await loadPlotly()
  const { data, layout } = themed(chart.figure)
  const names = chart.figure.lines?.map(({ trace }) => chart.figure.data[trace].name) ?? []
  const several = names.length > 1
  chart.figure.lines?.forEach(({ trace }) => (data[trace].showlegend = several))
  const picture = {
    ...layout,
    showlegend: several,
    title: { text: several ? "" : (names[0] ?? ""), font: { size: 15 }, x: 0.02, y: 0.97 },
    margin: { ...layout.margin, t: TOP_PIXELS, r: 24 },
  }
  await plotly.downloadImage(
    { data, layout: picture },
    {
      format,
      filename: fileName(chart.element.querySelector(".chart__title").title),
      width: Math.max(LEAST_WIDTH, chart.plot.clientWidth),
      height: Math.max(LEAST_HEIGHT, chart.plot.clientHeight),
      scale: format === "png" ? 2 : 1,
    },
  )
}

function fileName(title) {
  return title.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 100) || "chart"
}
