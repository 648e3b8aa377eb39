// Saves charts and pages as files: self-contained HTML, SVG and PNG.

import { gettext } from "../core/texts.js"
import { copyOf, stylesOf } from "./page_copy.js"
import { CONFIG, loadPlotly } from "../charts/plotly.js"

// Browser limit of the canvas side.
const MAX_CANVAS_PIXELS = 16_000
const PNG_SCALE = 2
const MARGIN_PIXELS = 16
const SVG = "http://www.w3.org/2000/svg"
const XHTML = "http://www.w3.org/1999/xhtml"
const START = `for (const [place, { data, layout }] of JSON.parse(document.getElementById("figures").textContent).entries())
  Plotly.newPlot(document.querySelector('[data-figure="' + place + '"]'), data, layout, JSON.parse(document.getElementById("config").textContent))`

// `figures` are drawn in the elements of `body` with their index in data-figure.
export async function saveHtml(name, { title, body, figures, styles = "" }) {
  const { lang, dataset } = document.documentElement
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${styles}</style>`
  const parts = [body.outerHTML]
  if (figures.length) {
    parts.push(script(json(figures), 'id="figures" type="application/json"'))
    parts.push(script(json({ ...CONFIG, responsive: true }), 'id="config" type="application/json"'))
    parts.push(script(await bundle()), script(START))
  }
  const html = `<!doctype html>\n<html lang="${escaped(lang)}" data-theme="${escaped(dataset.theme)}"><head>${head}</head><body>${parts.join("\n")}</body></html>\n`
  saveFile(new Blob([html], { type: "text/html;charset=utf-8" }), `${name}.html`)
}

// Saves the visible content of an element with all of its charts.
export async function savePage(element, { name, title, format }) {
  const styles = await stylesOf(document)
  if (format === "html") {
    const { copy, plots } = await copyOf(element)
    const figures = plots.map(({ plot, twin }, place) => {
      twin.dataset.figure = place
      twin.style.height = `${plot.clientHeight}px`
      return { data: plot.data, layout: { ...plot.layout, width: undefined, autosize: true } }
    })
    return saveHtml(name, { title, body: copy, figures, styles })
  }
  const picture = await svgOf(element, styles)
  if (format === "svg") return saveFile(new Blob([picture.text], { type: "image/svg+xml" }), `${name}.svg`)
  saveFile(await pngOf(picture), `${name}.png`)
}

async function svgOf(element, styles) {
  const { width, height } = element.getBoundingClientRect()
  const { copy, plots } = await copyOf(element)
  const plotly = plots.length ? await loadPlotly() : null
  for (const { plot, twin } of plots) {
    const image = document.createElement("img")
    Object.assign(image, { alt: "", width: plot.clientWidth, height: plot.clientHeight })
    image.src = await plotly.toImage(plot, { format: "svg", width: plot.clientWidth, height: plot.clientHeight })
    twin.replaceChildren(image)
  }
  const size = { width: Math.ceil(width) + 2 * MARGIN_PIXELS, height: Math.ceil(height) + 2 * MARGIN_PIXELS }
  const body = new XMLSerializer().serializeToString(copy)
  // As text, because the CSP applies to created style elements.
  const text = `<svg xmlns="${SVG}" data-theme="${escaped(document.documentElement.dataset.theme)}" width="${size.width}" height="${size.height}"><foreignObject width="100%" height="100%"><body xmlns="${XHTML}" style="margin: ${MARGIN_PIXELS}px"><style>${escaped(styles)}</style>${body}</body></foreignObject></svg>`
  return { ...size, text }
}

async function pngOf({ text, width, height }) {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  await image.decode()
  const scale = Math.min(PNG_SCALE, MAX_CANVAS_PIXELS / Math.max(width, height))
  const canvas = new OffscreenCanvas(width * scale, height * scale)
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.convertToBlob({ type: "image/png" })
}

async function bundle() {
  const response = await fetch(document.body.dataset.plotlyUrl)
  if (!response.ok) throw new Error(gettext("Plotly could not be loaded"))
  return response.text()
}

// Escapes "<", so that the data cannot end the script element.
function json(value) {
  const plain = (_, item) => (ArrayBuffer.isView(item) ? Array.from(item) : item)
  return JSON.stringify(value, plain).replaceAll("<", "\\u003c")
}

const script = (text, attributes = "") => `<script ${attributes}>${text}</script>`

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => SIGNS[sign])

export function saveFile(blob, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser has started the download by the next task.
  setTimeout(() => URL.revokeObjectURL(link.href))
}
