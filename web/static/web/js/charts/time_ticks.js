// Ticks of a time axis at round local times. The axis is linear in UTC: lines neither jump nor
// overlap at a DST change, and the labels skip or repeat an hour.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTH = 30 * DAY
const YEAR = 365 * DAY
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
]
const MONTHS = [1, 2, 3, 6]
// 1 January 1970 was a Thursday.
const FIRST_MONDAY = 4 * DAY
const LABEL_PIXELS = 80
const MAX_TICKS = 200
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

// Returns ticks as { value, text } for the range, plus the same width on both sides for panning.
// `offsetAt` returns the UTC offset at a timestamp. All in milliseconds.
export function timeTicks([low, high], pixels, offsetAt) {
  const span = high - low
  if (!(span > 0)) return []
  const rough = span / Math.max(1, Math.floor(pixels / LABEL_PIXELS))
  const step = STEPS.find((each) => each >= rough)
  const places = step
    ? stepped(step, low - span, high + span, offsetAt)
    : monthly(monthsOf(rough), low - span, high + span, offsetAt)
  return labeled(places, low, step ?? MONTH, offsetAt)
}

// Within a part of constant offset, round times are multiples of the step.
function stepped(step, low, high, offsetAt) {
  const origin = step >= 7 * DAY ? FIRST_MONDAY : 0
  const places = []
  for (const { from, to, offset } of partsOf(low, high, offsetAt)) {
    let count = Math.ceil((from + offset - origin) / step)
    for (; places.length < MAX_TICKS; count += 1) {
      const place = origin + count * step - offset
      if (place >= to) break
      places.push(place)
    }
  }
  return places
}

function monthly(months, low, high, offsetAt) {
  const start = new Date(low)
  const places = []
  let month = start.getUTCFullYear() * 12 + start.getUTCMonth()
  month = Math.floor(month / months) * months
  for (; places.length < MAX_TICKS; month += months) {
    const local = Date.UTC(Math.floor(month / 12), month % 12)
    const place = local - offsetAt(local - offsetAt(local))
    if (place > high) break
    places.push(place)
  }
  return places
}

function monthsOf(rough) {
  const found = MONTHS.find((months) => months * MONTH >= rough)
  if (found) return found
  const years = rough / YEAR
  const base = 10 ** Math.floor(Math.log10(Math.max(1, years)))
  return 12 * base * [1, 2, 5, 10].find((factor) => factor * base >= years)
}

// Splits the range at UTC offset changes, assuming at most one within ten days.
function partsOf(low, high, offsetAt) {
  const parts = []
  let from = low
  while (from < high) {
    const offset = offsetAt(from)
    let to = Math.min(high, from + 10 * DAY)
    if (offsetAt(to) !== offset) to = changeWithin(from, to, offset, offsetAt)
    const last = parts.at(-1)
    if (last?.offset === offset) last.to = to
    else parts.push({ from, to, offset })
    from = to
  }
  return parts
}

function changeWithin(from, to, offset, offsetAt) {
  let [before, after] = [from, to]
  while (after - before > 0.5) {
    const middle = (before + after) / 2
    if (offsetAt(middle) === offset) before = middle
    else after = middle
  }
  return Math.round(after)
}

// The date is shown under the first visible tick and where it changes.
function labeled(places, low, step, offsetAt) {
  const first = places.findIndex((place) => place >= low)
  let before = null
  return places.map((value, index) => {
    const [text, under] = textsOf(value + offsetAt(value), step)
    const isNamed = under && (under !== before || index === first)
    before = under
    return { value, text: isNamed ? `${text}<br>${under}` : text }
  })
}

// `local` is the local time as a UTC timestamp.
function textsOf(local, step) {
  const date = new Date(local)
  const [day, month, year] = [date.getUTCDate(), NAMES[date.getUTCMonth()], date.getUTCFullYear()]
  if (step >= MONTH) return [`${month} ${year}`, ""]
  if (step >= DAY) return [`${day} ${month}`, String(year)]
  const digits = step >= MINUTE ? 16 : step >= SECOND ? 19 : 23
  return [date.toISOString().slice(11, digits), `${day} ${month} ${year}`]
}
