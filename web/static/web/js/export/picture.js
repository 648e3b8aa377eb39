// Chart as an image, saved or copied, with title and legend.

import { copyText } from "../core/clipboard.js"
import { linesOf } from "../charts/figure_lines.js"
import { literal } from "../charts/plotly_text.js"
import { themed } from "../charts/colours.js"
import { nameLines, namesOf } from "../charts/legend.js"
import { fileNameOf, titleOf } from "../chart_page/chart_names.js"
import { loadPlotly } from "../charts/plotly.js"
import { saveHtml } from "./chart_files.js"
import { isTime, isTimeDown, withTimeAxis, withTimeDown } from "../charts/time_axis.js"

const MIN_WIDTH = 900
const MIN_HEIGHT = 480
const TOP_PIXELS = 44
// Legend below the chart: names per row and row height.
const NAMES_IN_ROW = 3
const ROW_PIXELS = 20
const LEGEND = { orientation: "h", x: 0, xanchor: "left", y: -0.14, yanchor: "top" }

export async function savePicture(chart, format) {
  const plotly = await loadPlotly()
  const size = sizeOf(chart, format)
  await plotly.downloadImage(pictured(chart, size), { ...size, filename: fileNameOf(chart.element) })
}

// Saves the chart as an interactive, self-contained page.
export async function saveChartPage(chart) {
  const { data, layout } = pictured(chart, sizeOf(chart, "html"))
  const body = document.createElement("div")
  body.dataset.figure = 0
  await saveHtml(fileNameOf(chart.element), {
    title: titleOf(chart.element),
    body,
    figures: [{ data, layout: { ...layout, autosize: true } }],
    styles: `body { margin: 0; background: ${layout.paper_bgcolor} } [data-figure] { height: 100vh }`,
  })
}

// The clipboard API requires a secure context.
export const canCopyPictures = () => Boolean(navigator.clipboard?.write && window.ClipboardItem)

// Resolves to whether the browser allowed it.
export async function copyPicture(chart) {
  try {
    // A promise, because the user activation would expire while the image renders.
    const picture = drawn(chart, "png").then(bytesOf)
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })])
    return true
  } catch (error) {
    if (error instanceof DOMException) return false
    throw error
  }
}

export async function copySvg(chart) {
  const [, svg] = /^data:image\/svg\+xml[^,]*,(.*)$/s.exec(await drawn(chart, "svg"))
  return copyText(decodeURIComponent(svg))
}

async function drawn(chart, format) {
  const plotly = await loadPlotly()
  const size = sizeOf(chart, format)
  return plotly.toImage(pictured(chart, size), size)
}

function sizeOf({ figure, plot }, format) {
  const rows = Math.ceil(linesOf(figure).length / NAMES_IN_ROW)
  return {
    format,
    width: Math.max(MIN_WIDTH, plot.clientWidth),
    height: Math.max(MIN_HEIGHT, plot.clientHeight) + rows * ROW_PIXELS,
    scale: format === "png" ? 2 : 1,
  }
}

function pictured(chart, { width, height }) {
  const coloured = themed(chart.figure)
  const { data, layout: own } = isTimeDown(chart.figure) ? withTimeDown(coloured, height) : coloured
  const layout = isTime(chart.figure) ? withTimeAxis({ data, layout: own }, width) : own
  const title = titleOf(chart.element)
  // The title may already name the lines.
  const isNamed = namesOf(chart.figure) === title
  const hasLegend = linesOf(chart.figure).length > 1 || !isNamed
  nameLines(chart.figure, data, hasLegend)
  const head = isNamed && hasLegend ? "" : literal(title)
  return {
    data,
    layout: {
      ...layout,
      showlegend: hasLegend,
      legend: { ...layout.legend, ...LEGEND },
      title: { text: head, font: { size: 15 }, x: 0.02, y: 0.97, yanchor: "top" },
      margin: { ...layout.margin, t: TOP_PIXELS, r: 24 },
    },
  }
}

function bytesOf(dataAddress) {
  const text = atob(dataAddress.slice(dataAddress.indexOf(",") + 1))
  return new Blob([Uint8Array.from(text, (sign) => sign.charCodeAt(0))], { type: "image/png" })
}
