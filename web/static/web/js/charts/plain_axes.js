// Where Plotly 4.1.1 will put the axes of plain lines: their range, where the lines go in
// it, and what its ticks say. Values in, values out; tests hold it against Plotly itself.

// Of the length of an axis, kept free where lines would touch its ends.
const ROOM = 0.05
// Markers get at least so many pixels besides.
const MARKER_PIXELS = 3
const LARGEST = Number.MAX_VALUE * 1e-4
const STEPS = [2, 5, 10]
// Most pixels from one tick of a horizontal axis to the next, and how many there may be.
const TICK_PIXELS = 80
const FEWEST = 4
const MOST = 9
const PREFIXES = ["f", "p", "n", "μ", "m", "", "k", "M", "G", "T"]
const FIRST_PREFIX = -5
const LARGEST_EXPONENT = 14
const MINUS = "−"

// Returns the two ends, in powers of ten if the axis is logarithmic; null if Plotly has to
// find them. `pixels` is how long the axis is, `letter` whether it is "x" or "y".
export function rangeOf(axis, traces, letter, pixels) {
  if (axis.range) return axis.range
  const ends = traces.map((trace) => endsOf(trace, letter, axis.type === "log")).filter(({ low, high }) => low <= high)
  const low = Math.min(...ends.map((each) => each.low))
  const high = Math.max(...ends.map((each) => each.high))
  // One place only, or none: what is shown then has rules of its own.
  if (!(low < high)) return low === high && axis.type === "linear" ? [low - 1, high + 1] : null
  return padded(ends, pixels)
}

// The least and the greatest value of a trace, and the pixels to be kept free beside them.
function endsOf(trace, letter, isLog) {
  let low = Infinity
  let high = -Infinity
  for (const value of trace[letter]) {
    const isShown = isLog ? value > 0 && value < LARGEST : Math.abs(value) < LARGEST
    if (!isShown) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  if (isLog) [low, high] = [Math.log10(low), Math.log10(high)]
  const hasMarkers = trace.mode.includes("markers")
  const size = Math.max(trace.marker?.size / 1.6 || 0, MARKER_PIXELS)
  return { low, high, pad: hasMarkers ? size : 0, hasRoom: letter === "y" || hasMarkers }
}

// Of all pairs of a low and a high end the one that needs most values for each pixel.
function padded(ends, pixels) {
  const padOf = ({ pad, hasRoom }) => pad + (hasRoom ? ROOM * pixels : 0)
  let best = { scale: 0 }
  for (const from of ends) {
    for (const to of ends) {
      const free = pixels - padOf(from) - padOf(to)
      if (to.high <= from.low || free <= pixels / 10) continue
      const scale = (to.high - from.low) / free
      if (scale > best.scale) best = { scale, from, to }
    }
  }
  if (!best.from) return null
  return [best.from.low - best.scale * padOf(best.from), best.to.high + best.scale * padOf(best.to)]
}

// From values to pixels, counted from the left or the top, as Plotly's axes do it.
export function scaleOf(axis, range, pixels, letter) {
  const [low, high] = range
  const place = axis.type === "log" ? Math.log10 : Number
  const across = (value) => ((place(value) - low) / (high - low)) * pixels
  return {
    _length: pixels,
    range,
    autorange: !axis.range,
    c2p: letter === "x" ? across : (value) => pixels - across(value),
  }
}

// Returns the ticks of a linear axis, as { value, text }; null where their words follow
// other rules: dates, and powers of ten.
export function ticksOf(axis, range, pixels) {
  if (axis.type !== "linear") return null
  const [low, high] = range
  const wanted = axis.nticks || Math.max(FEWEST, Math.min(MOST, pixels / TICK_PIXELS)) + 1
  const step = stepOf((high - low) / wanted)
  const round = roundingOf(step, range, axis.exponentformat ?? "B")
  if (!(step > 0) || round === null) return null
  // An end that is a tick but for its last digit is one.
  const slack = (high - low) * 1e-4
  const ticks = []
  for (let count = Math.ceil((low - slack) / step); count * step <= high + slack; count += 1) {
    ticks.push({ value: count * step, text: textOf(count * step, round) })
  }
  return ticks
}

function stepOf(rough) {
  const base = 10 ** Math.floor(Math.log(rough) / Math.LN10)
  return base * STEPS.find((step) => step > rough / base || step === 10)
}

function roundingOf(step, range, format) {
  const largest = Math.max(...range.map(Math.abs))
  const magnitude = Math.floor(Math.log(largest) / Math.LN10 + 0.01)
  if (Math.abs(magnitude) > LARGEST_EXPONENT) return null
  const exponent = Math.abs(magnitude) > 3 ? 3 * Math.round((magnitude - 1) / 3) : 0
  return { digits: 2 - Math.floor(Math.log(step) / Math.LN10 + 0.01), exponent, format }
}

function textOf(value, { digits, exponent, format }) {
  const size = Math.abs(value)
  if (size < 10 ** -digits / 2) return "0"
  const prefix = format === "B" && exponent === 9 ? "B" : PREFIXES[exponent / 3 - FIRST_PREFIX]
  return (value < 0 ? MINUS : "") + grouped(rounded(size * 10 ** -exponent, digits + exponent)) + prefix
}

function rounded(size, digits) {
  if (digits > 0) return size.toFixed(Math.min(20, digits)).replace(/\.?0+$/, "")
  return String(Math.round(size * 10 ** digits) / 10 ** digits)
}

// Four digits are a year to Plotly, unless others follow the point.
function grouped(text) {
  const [whole, rest] = text.split(".")
  const isGrouped = rest !== undefined || whole.length > 4
  const said = isGrouped ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole
  return rest === undefined ? said : `${said}.${rest}`
}
