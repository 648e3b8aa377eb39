// Formats numbers, durations and shares like templatetags/format.py; a test compares both.
const UNKNOWN = "–"
const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400
const LARGEST_PLAIN = 1e9
const SMALLEST_PLAIN = 1e-4
const SIGNIFICANT_DIGITS = 4
const MAX_PERCENT = 1_000

export function number(value) {
  return withDigits(value, trimmed)
}

// All significant digits, so that the numbers of a column line up: 0.758 as 0.7580.
export function paddedNumber(value) {
  return withDigits(value, (text) => text)
}

export function usesAllDigits(value) {
  return !Number.isSafeInteger(value) && paddedNumber(value) === number(value)
}

function withDigits(value, shortened) {
  if (value === null || value === undefined) return UNKNOWN
  if (Number.isNaN(value)) return "NaN"
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞"

  if (Number.isSafeInteger(value)) return minus(grouped(String(value)))
  const size = Math.abs(value)
  if (size < SMALLEST_PLAIN || size >= LARGEST_PLAIN) {
    const [mantissa, exponent] = value.toExponential(SIGNIFICANT_DIGITS - 1).split("e")
    return minus(`${shortened(mantissa)}e${Number(exponent)}`)
  }
  const digits = Math.max(0, SIGNIFICANT_DIGITS - 1 - Math.floor(Math.log10(size)))
  return minus(grouped(shortened(value.toFixed(digits))))
}

export function percent(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN
  const digits = value !== 0 && Math.abs(value) < 10 ? 1 : 0
  return minus(`${trimmed(value.toFixed(digits))} %`)
}

// Relative change of a number; "" if it is not meaningful.
export function change(value, reference) {
  if (typeof value !== "number" || typeof reference !== "number" || reference === 0) return ""
  const share = (100 * (value - reference)) / Math.abs(reference)
  if (Math.abs(share) >= MAX_PERCENT) return value / reference > 0 ? `×\u202f${number(Number((value / reference).toPrecision(2)))}` : ""
  const text = percent(share)
  return /^−?0(\.0)? %$/.test(text) ? "" : share > 0 ? `+${text}` : text
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return UNKNOWN
  if (seconds < 0) return `−${duration(-seconds)}`
  if (seconds < 1) return `${number(Number((seconds * 1_000).toPrecision(3)))} ms`
  if (Math.round(seconds * 10) / 10 < MINUTE) return `${trimmed(seconds.toFixed(1))} s`

  const whole = Math.round(seconds)
  if (whole < HOUR) return units([whole / MINUTE, "min"], [whole % MINUTE, "s"])
  if (whole < DAY) return units([whole / HOUR, "h"], [(whole % HOUR) / MINUTE, "min"])
  return units([whole / DAY, "d"], [(whole % DAY) / HOUR, "h"])
}

function units(...parts) {
  return parts
    .map(([count, unit]) => [Math.floor(count), unit])
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ")
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

function grouped(text) {
  const [whole, ...fraction] = text.split(".")
  return [whole.replace(/\B(?=(\d{3})+(?!\d))/g, ","), ...fraction].join(".")
}

function minus(text) {
  return text.replaceAll("-", "−")
}
