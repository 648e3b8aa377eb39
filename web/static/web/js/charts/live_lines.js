// Extends the SVG paths drawn by Plotly: 0.5 ms per chart instead of 10 ms. Plotly is updated
// later.
//
// Relies on the DOM of Plotly 4.1.1 (g.trace with bound data, path.js-line, path.js-fill,
// path.point, axes with c2p); tests compare an extended chart with a full redraw.

// Results: extended; extended beyond the axes; not possible.
export const GROWN = "grown"
export const LEFT = "left its axes"
const IMPOSSIBLE = "impossible"

// Free share of the axis for new points: a few minutes' worth, because a redraw of the axes costs
// many updates.
const MIN_ROOM = 0.08
const MAX_ROOM = 0.2
const AHEAD_MS = 300_000
const CLOSED = "Z"
// Outside of any screen, within the coordinate range of all browsers.
const MAX_PIXEL = 1e5

// Extends the x-axis of a live chart beyond its lines, which grow by `pace` of the axis per
// millisecond.
export function withRoom(layout, figure, pace = 0) {
  const axis = layout.xaxis
  if (axis.range || axis.type === "log") return
  const [low, high] = endsOf(figure)
  const length = high - low
  if (!(length > 0)) return
  const room = Math.max(MIN_ROOM * length, pace * AHEAD_MS)
  axis.range = [low, high + Math.min(room, MAX_ROOM * length)]
}

// First and last x of the lines; -Infinity as the end without lines.
export function endsOf(figure) {
  let low = Infinity
  let high = -Infinity
  if (!figure.lines || figure.axis === "series") return [low, high]
  for (const { trace } of figure.lines) {
    const x = figure.data[trace].x
    if (!x.length) continue
    low = Math.min(low, x[0])
    high = Math.max(high, x[x.length - 1])
  }
  return [low, high]
}

// Share of the axis beyond the lines; NaN without lines.
export function freeOf({ _fullLayout: { xaxis } = {} }, figure) {
  const free = 1 - xaxis?.c2p?.(endsOf(figure)[1]) / xaxis?._length
  return Number.isFinite(free) ? free : NaN
}

export function grow(plot, figure) {
  const { xaxis, yaxis } = plot._fullLayout ?? {}
  if (!figure.lines || !xaxis?.c2p || !yaxis?.c2p) return IMPOSSIBLE
  const traces = new Map()
  for (const element of plot.querySelectorAll(".scatterlayer > .trace")) {
    const index = element.__data__?.[0]?.trace?.index
    if (index !== undefined) traces.set(index, element)
  }
  if (traces.size !== figure.data.length) return IMPOSSIBLE

  let outcome = GROWN
  figure.data.forEach((trace, index) => {
    if (outcome === IMPOSSIBLE || isKnown(trace, plot.data[index])) return
    const { d, isBeyond } = outline(trace, xaxis, yaxis)
    const isPut = setPath(traces.get(index), trace, d) && setDots(traces.get(index), trace, xaxis, yaxis)
    if (!isPut) outcome = IMPOSSIBLE
    else if (isBeyond) outcome = LEFT
  })
  return outcome
}

// Most compared runs have finished and do not change.
function isKnown({ x, y }, drawn) {
  return drawn.x === x && drawn.y === y
}

// Path of a line, or of the polygons of a band; non-finite values become gaps.
export function outline({ x, y, fill }, xaxis, yaxis) {
  const parts = []
  const width = xaxis._length
  const height = yaxis._length
  const end = fill ? CLOSED : ""
  // A range set by the user stays.
  const isChosen = yaxis.autorange === false
  let isBeyond = false
  let isDown = false
  for (let index = 0; index < y.length; index += 1) {
    const left = xaxis.c2p(x[index])
    const top = yaxis.c2p(y[index])
    if (!Number.isFinite(left) || !Number.isFinite(top)) {
      if (isDown) parts.push(end)
      isDown = false
      continue
    }
    if (left > width + 1 || (!isChosen && (top < -1 || top > height + 1))) isBeyond = true
    parts.push(isDown ? "L" : "M", rounded(left), ",", rounded(top))
    isDown = true
  }
  if (isDown) parts.push(end)
  return { d: parts.join(""), isBeyond }
}

function rounded(pixels) {
  return Math.round(Math.max(-MAX_PIXEL, Math.min(MAX_PIXEL, pixels)) * 10) / 10
}

// Plotly creates one path per segment; the first one gets all of them.
function setPath(element, trace, d) {
  const lines = element.querySelectorAll("path.js-line")
  if (!lines.length) return d === ""
  lines[0].setAttribute("d", d.replaceAll(CLOSED, ""))
  for (let index = 1; index < lines.length; index += 1) lines[index].setAttribute("d", "")
  if (!trace.fill) return true
  const fills = element.querySelectorAll("path.js-fill")
  if (!fills.length) return false
  fills[0].setAttribute("d", d)
  for (let index = 1; index < fills.length; index += 1) fills[index].setAttribute("d", "")
  return true
}

// Markers of a short line, cloned from the first. Plotly adopts the extra ones on its next draw.
function setDots(element, { mode, x, y }, xaxis, yaxis) {
  if (!mode.includes("markers")) return true
  const places = Array.from(x, (place, index) => [xaxis.c2p(place), yaxis.c2p(y[index])])
    .filter((pixels) => pixels.every(Number.isFinite))
  const dots = [...element.querySelectorAll("path.point")]
  const [first] = dots
  if (!first) return places.length === 0
  while (dots.length < places.length) {
    dots.push(first.cloneNode())
    first.parentNode.append(dots.at(-1))
  }
  for (const dot of dots.splice(places.length)) dot.remove()
  places.forEach(([left, top], index) => dots[index].setAttribute("transform", `translate(${rounded(left)},${rounded(top)})`))
  return true
}
