// Predicts the axes of Plotly 4.1.1 for plain lines: range, positions and tick labels. Pure
// functions; tests compare them with Plotly.

// Margin where lines would touch the end of the axis.
const ROOM = 0.05
// Extra margin for markers.
const MARKER_PIXELS = 3
const MAX_VALUE = Number.MAX_VALUE * 1e-4
const STEPS = [2, 5, 10]
// Distance of x-axis ticks and the limits of their number.
const TICK_PIXELS = 80
const MIN_TICKS = 4
const MAX_TICKS = 9
const PREFIXES = ["f", "p", "n", "μ", "m", "", "k", "M", "G", "T"]
const FIRST_PREFIX = -5
const MAX_EXPONENT = 14
const DIGITS_OF_POWERS = 6
const MINUS = "−"

// Returns both ends (as exponents on a logarithmic axis), or null if only Plotly can compute them.
// `pixels` is the length of the axis, `letter` "x" or "y".
export function rangeOf(axis, traces, letter, pixels) {
  if (axis.range) return axis.range
  const ends = traces.map((trace) => endsOf(trace, letter, axis.type === "log")).filter(({ low, high }) => low <= high)
  const low = Math.min(...ends.map((each) => each.low))
  const high = Math.max(...ends.map((each) => each.high))
  // Plotly has special rules for a single value.
  if (!(low < high)) return low === high && axis.type === "linear" ? [low - 1, high + 1] : null
  return padded(ends, pixels)
}

// Minimum and maximum of a trace, and the margin in pixels.
function endsOf(trace, letter, isLog) {
  let low = Infinity
  let high = -Infinity
  for (const value of trace[letter]) {
    const isShown = isLog ? value > 0 && value < MAX_VALUE : Math.abs(value) < MAX_VALUE
    if (!isShown) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  if (isLog) [low, high] = [Math.log10(low), Math.log10(high)]
  const hasMarkers = trace.mode.includes("markers")
  const size = Math.max(trace.marker?.size / 1.6 || 0, MARKER_PIXELS)
  return { low, high, pad: hasMarkers ? size : 0, hasRoom: letter === "y" || hasMarkers }
}

// Chooses the pair of ends with the largest range per pixel.
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

// Converts values to pixels from the left or top, like Plotly's axes.
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

// Returns the ticks of a linear axis as { value, text }; null for dates and logarithmic axes.
export function ticksOf(axis, range, pixels) {
  if (axis.type !== "linear") return null
  const [low, high] = range
  const tickCount = axis.nticks || Math.max(MIN_TICKS, Math.min(MAX_TICKS, pixels / TICK_PIXELS)) + 1
  const step = stepOf((high - low) / tickCount)
  const round = axis.tickformat ? { format: axis.tickformat } : roundingOf(step, range, axis.exponentformat ?? "B")
  if (!(step > 0) || round === null) return null
  // Tolerates rounding errors at the ends.
  const slack = (high - low) * 1e-4
  const ticks = []
  const write = axis.tickformat ? (value) => powerOf(value, axis.labelalias) : (value) => textOf(value, round)
  for (let count = Math.ceil((low - slack) / step); count * step <= high + slack; count += 1) {
    ticks.push({ value: count * step, text: write(count * step) })
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
  if (Math.abs(magnitude) > MAX_EXPONENT) return null
  const scientific = format === "e" ? magnitude : 3 * Math.round((magnitude - 1) / 3)
  const exponent = Math.abs(magnitude) > 3 ? scientific : 0
  return { digits: 2 - Math.floor(Math.log(step) / Math.LN10 + 0.01), exponent, format }
}

function textOf(value, { digits, exponent, format }) {
  const size = Math.abs(value)
  if (size < 10 ** -digits / 2) return "0"
  return (value < 0 ? MINUS : "") + grouped(rounded(size * 10 ** -exponent, digits + exponent)) + suffixOf(exponent, format)
}

// Writes a number as the format "~e" does.
function powerOf(value, alias) {
  const [mantissa, exponent] = value.toExponential(DIGITS_OF_POWERS).split("e")
  const text = `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${exponent}`
  return alias?.[text] ?? text.replaceAll("-", MINUS)
}

function suffixOf(exponent, format) {
  if (format === "e") return exponent ? `e${exponent < 0 ? MINUS : "+"}${Math.abs(exponent)}` : ""
  return format === "B" && exponent === 9 ? "B" : PREFIXES[exponent / 3 - FIRST_PREFIX]
}

function rounded(size, digits) {
  if (digits > 0) return size.toFixed(Math.min(20, digits)).replace(/\.?0+$/, "")
  return String(Math.round(size * 10 ** digits) / 10 ** digits)
}

// Plotly groups four-digit numbers only if they have decimals, because they could be years.
function grouped(text) {
  const [whole, rest] = text.split(".")
  const isGrouped = rest !== undefined || whole.length > 4
  const integer = isGrouped ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole
  return rest === undefined ? integer : `${integer}.${rest}`
}
