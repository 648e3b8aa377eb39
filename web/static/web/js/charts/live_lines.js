// Draws lines that have grown straight into the paths that Plotly made: a chart costs half
// a millisecond instead of ten. Plotly itself learns of it when the chart is settled.
//
// This leans on how Plotly 4.1.1 draws (g.trace with its data beside it, path.js-line,
// path.js-fill and path.point, axes with c2p); tests hold a grown chart against one drawn in whole.

// What became of it: drawn; drawn, but beyond the axes; or not possible.
export const GROWN = "grown"
export const LEFT = "left its axes"
const IMPOSSIBLE = "impossible"

// Of the lines' length, kept free for what will come: enough for some minutes, as drawing
// all axes anew costs as much as many ticks, but most of the chart is for what is there.
const MIN_ROOM = 0.08
const MAX_ROOM = 0.2
const AHEAD_MS = 300_000
const CLOSED = "Z"
// Farther than any screen is wide, near enough for every browser to draw.
const FARTHEST = 1e5

// A live chart gets an axis that ends a little later than its lines, which grow by `pace`
// of the axis in a millisecond.
export function withRoom(layout, figure, pace = 0) {
  const axis = layout.xaxis
  if (axis.range || axis.type === "log") return
  const [low, high] = endsOf(figure)
  const length = high - low
  if (!(length > 0)) return
  const wanted = Math.max(MIN_ROOM * length, pace * AHEAD_MS)
  axis.range = [low, high + Math.min(wanted, MAX_ROOM * length)]
}

// Where the lines begin and end; -Infinity is the end of what has none.
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

// How much of the axis is free beyond the lines, as a share of it; NaN without lines.
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
    const isPut = put(traces.get(index), trace, d) && putDots(traces.get(index), trace, xaxis, yaxis)
    if (!isPut) outcome = IMPOSSIBLE
    else if (isBeyond) outcome = LEFT
  })
  return outcome
}

// Most lines of a comparison are of runs that have ended.
function isKnown({ x, y }, drawn) {
  return drawn.x === x && drawn.y === y
}

// The path of a line, or of each polygon of a band, with what is not finite as gaps.
export function outline({ x, y, fill }, xaxis, yaxis) {
  const parts = []
  const width = xaxis._length
  const height = yaxis._length
  const end = fill ? CLOSED : ""
  // An axis that somebody has chosen is not left; it was meant to end there.
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
  return Math.round(Math.max(-FARTHEST, Math.min(FARTHEST, pixels)) * 10) / 10
}

// Plotly makes a path of each stretch between gaps; the first one takes them all.
function put(element, trace, d) {
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

// The dots of a short line, each of which looks like the first. Plotly takes those that are
// more for its own when it draws the next time.
function putDots(element, { mode, x, y }, xaxis, yaxis) {
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
