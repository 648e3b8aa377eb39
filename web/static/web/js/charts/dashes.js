// Dash patterns of Plotly 4.1.1.

const SVG = "http://www.w3.org/2000/svg"
const STROKE_PIXELS = 24
const DOT_PIXELS = 2
const DASHES = {
  dash: [3, 3],
  dot: [1, 1],
  dashdot: [3, 1, 1, 1],
  longdash: [5, 5],
  longdashdot: [5, 2, 1, 2],
}

// Lengths of dashes and gaps in pixels, or null for a solid line. `unit` is the length of a dot.
export function dashesOf(dash, unit) {
  return DASHES[dash]?.map((length) => length * unit) ?? null
}

// Line sample shown next to a name.
export function strokeOf({ colour, dash }) {
  const image = document.createElementNS(SVG, "svg")
  image.setAttribute("class", "chart__stroke")
  image.setAttribute("viewBox", `0 0 ${STROKE_PIXELS} 4`)
  image.setAttribute("aria-hidden", "true")
  const path = document.createElementNS(SVG, "path")
  path.setAttribute("d", `M0 2H${STROKE_PIXELS}`)
  path.setAttribute("stroke", colour)
  const dashes = dashesOf(dash, DOT_PIXELS)
  if (dashes) path.setAttribute("stroke-dasharray", dashes)
  image.append(path)
  return image
}
