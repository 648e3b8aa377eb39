// Placeholder of a line chart: an SVG with the margins, axes and ticks that Plotly will draw. It is
// hidden from screen readers and not interactive.
//
// Returns nothing where it would differ from Plotly: other trace types, text labels, legends,
// logarithmic y-axes.

import { rangeOf, scaleOf, ticksOf } from "./plain_axes.js"
import { dashesOf } from "./dashes.js"
import { outline, withRoom } from "./live_lines.js"

const SVG = "http://www.w3.org/2000/svg"
const FONT_PIXELS = 11
const TICK_PIXELS = 5
// Distance of tick labels and title from the axes.
const LEFT_OF_AXIS = 8.2
const BELOW_AXIS = 19.2
const TITLE_BELOW_AXIS = 31
// From the center of a tick label to its baseline.
const HALF_LETTER = 3.85
const MIN_PIXELS = 64
// Plotly's automargin: maximum padding, space for an empty y-axis title, and iterations.
const MAX_PAD = 12
const ROOM_OF_TITLE = 13.7
const MAX_ROUNDS = 3
const KINDS = new Set(["linear", "log", "date"])
// Dots are as long as the line width, with this minimum.
const MIN_DOT = 3

let count = 0
let pen = null

// Returns the SVG, or null if only Plotly can draw the figure. Live lines grow by `pace` of the
// axis per millisecond; null for finished ones.
export function sketched(figure, { width, height }, pace = null) {
  const place = placed(figure, width, height, pace)
  if (!place) return null
  count += 1
  const image = svgElement("svg", { class: "chart__sketch", "aria-hidden": "true", width, height })
  const clip = svgElement("clipPath", { id: `chart-sketch-${count}` })
  clip.append(svgElement("rect", { width: place.right - place.left, height: place.bottom - place.top }))
  const lines = svgElement("g", { transform: `translate(${place.left},${place.top})`, "clip-path": `url(#${clip.id})` })
  lines.append(...figure.data.flatMap((trace) => drawn(trace, place)))
  image.append(clip, ...grid(place), lines, ...axes(place))
  return image
}

// Computes the layout; null for figures other than plain lines on two axes.
function placed(figure, width, height, pace) {
  if (!isPlain(figure)) return null
  const layout = { ...figure.layout, xaxis: { ...figure.layout.xaxis } }
  if (pace !== null) withRoom(layout, figure, pace)
  const { margin, xaxis, yaxis } = layout
  const right = Math.round(width) - margin.r
  const bottom = Math.round(height) - margin.b

  let { l: left, t: top } = margin
  let upward = null
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    upward = Math.min(right - left, bottom - top) < MIN_PIXELS ? null : measured(yaxis, figure, "y", bottom - top)
    if (!upward?.ticks) return null
    const needed = yaxis.automargin ? marginsFor(upward, margin) : { left, top }
    // Plotly tolerates one pixel as well.
    if (Math.abs(needed.left - left) <= 1 && Math.abs(needed.top - top) <= 1) break
    left = needed.left
    top = needed.top
  }
  const along = measured(xaxis, figure, "x", right - left)
  if (!along) return null
  const title = xaxis.type === "linear" ? xaxis.title?.text : ""
  return { left, top, right, bottom, x: along.scale, y: upward.scale, columns: along.ticks ?? [], rows: upward.ticks, title }
}

function measured(axis, figure, letter, pixels) {
  const range = rangeOf(axis, figure.data, letter, pixels)
  return range && { scale: scaleOf(axis, range, pixels, letter), ticks: ticksOf(axis, range, pixels) }
}

// Space for the tick labels and for half a label at the upper end.
function marginsFor({ scale, ticks }, margin) {
  if (!pen) {
    pen = new OffscreenCanvas(1, 1).getContext("2d")
    pen.font = `${FONT_PIXELS}px ${getComputedStyle(document.body).fontFamily}`
  }
  const sizes = ticks.map(({ text }) => pen.measureText(text))
  const widest = Math.max(0, ...sizes.map(({ width }) => width))
  const ascent = Math.max(0, ...sizes.map(({ fontBoundingBoxAscent }) => Math.round(fontBoundingBoxAscent)))
  const highest = Math.min(...ticks.map(({ value }) => scale.c2p(value))) + HALF_LETTER - ascent
  const pad = Math.min(MAX_PAD, ...["l", "r", "t", "b"].map((side) => margin[side]))
  return {
    left: Math.round(Math.max(margin.l, LEFT_OF_AXIS + widest + ROOM_OF_TITLE + pad)),
    top: Math.round(Math.max(margin.t, pad - highest)),
  }
}

function isPlain({ lines, data, layout }) {
  const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name))
  return (
    lines !== undefined &&
    !layout.height && !layout.showlegend && !layout.shapes?.length && !layout.annotations?.length &&
    axes.length === 2 && axes.every((name) => KINDS.has(layout[name].type)) &&
    data.every(isPlainLine)
  )
}

function isPlainLine({ type, mode, line, fill, x }) {
  return (
    type === "scatter" && ["lines", "lines+markers"].includes(mode) && [undefined, "toself"].includes(fill) &&
    [undefined, "linear"].includes(line.shape) && ArrayBuffer.isView(x)
  )
}

function drawn(trace, { x, y }) {
  const { d } = outline(trace, x, y)
  const { color, width, dash } = trace.line
  const parts = []
  if (trace.fill) parts.push(svgElement("path", { d, fill: trace.fillcolor }))
  const line = svgElement("path", { d: trace.fill ? d.replaceAll("Z", "") : d, fill: "none", stroke: color, "stroke-width": width })
  const dashes = dashesOf(dash, Math.max(width, MIN_DOT))
  if (dashes) line.setAttribute("stroke-dasharray", dashes)
  parts.push(line)
  if (trace.mode.includes("markers")) parts.push(...points(trace, x, y))
  return parts
}

function points({ x: places, y: values, marker }, x, y) {
  return Array.from(places, (place, index) => [x.c2p(place), y.c2p(values[index])])
    .filter((pixels) => pixels.every(Number.isFinite))
    .map(([cx, cy]) => svgElement("circle", { cx, cy, r: marker.size / 2, fill: marker.color }))
}

function grid({ left, top, right, bottom, x, y, columns, rows }) {
  const upright = columns.map(({ value }) => `M${left + x.c2p(value)},${top}V${bottom}`)
  const level = rows.map(({ value }) => `M${left},${top + y.c2p(value)}H${right}`)
  return [svgElement("path", { class: "chart__sketch-grid", d: [...upright, ...level].join("") })]
}

function axes({ left, top, right, bottom, x, y, columns, rows, title }) {
  const ticks = [
    ...columns.map(({ value }) => `M${left + x.c2p(value)},${bottom + 1}v${TICK_PIXELS}`),
    ...rows.map(({ value }) => `M${left - 1},${top + y.c2p(value)}h${-TICK_PIXELS}`),
  ]
  const ends = `M${left - 1},${bottom + 0.5}H${right}M${left - 0.5},${top}V${bottom}`
  const middle = { "text-anchor": "middle" }
  return [
    svgElement("path", { class: "chart__sketch-axis", d: ends + ticks.join("") }),
    ...columns.map(({ value, text }) => words(text, left + x.c2p(value), bottom + BELOW_AXIS, middle)),
    ...rows.map(({ value, text }) =>
      words(text, left - LEFT_OF_AXIS, top + y.c2p(value) + HALF_LETTER, { "text-anchor": "end" }),
    ),
    ...(title ? [words(title, (left + right) / 2, bottom + TITLE_BELOW_AXIS, middle)] : []),
  ]
}

function words(text, x, y, attributes) {
  const element = svgElement("text", { x, y, "font-size": FONT_PIXELS, "font-variant": "normal", ...attributes })
  element.textContent = text
  return element
}

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}
