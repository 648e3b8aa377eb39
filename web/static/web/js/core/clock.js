// Formats times in the browser's zone, or in UTC if the user chose it. All times of a page are
// formatted here.

const STORED = "time-zone"
const UTC = "UTC"
const MINUTE_MS = 60_000
const DAY = { day: "numeric", month: "short", year: "numeric" }
const MINUTES = { hour: "2-digit", minute: "2-digit" }
const SECONDS = { ...MINUTES, second: "2-digit" }

export const isUtc = () => localStorage.getItem(STORED) === UTC

// Reloads, because times appear all over the page.
export function useUtc(isOn) {
  if (isOn) localStorage.setItem(STORED, UTC)
  else localStorage.removeItem(STORED)
  location.reload()
}

const shownIn = isUtc() ? UTC : undefined
const formatOf = (options) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone: shownIn })
const FORMATS = {
  day: formatOf(DAY),
  dayOfYear: formatOf({ day: "numeric", month: "short", ...MINUTES }),
  minute: formatOf({ ...DAY, ...MINUTES, timeZoneName: "short" }),
  second: formatOf({ ...DAY, ...SECONDS, timeZoneName: "short" }),
  millisecond: formatOf({ ...DAY, ...SECONDS, fractionalSecondDigits: 3, timeZoneName: "short" }),
  clock: formatOf(MINUTES),
  clockSeconds: formatOf(SECONDS),
  clockMilliseconds: formatOf({ ...SECONDS, fractionalSecondDigits: 3 }),
}

// The name of the zone, such as "Europe/Berlin".
export const zoneName = () => FORMATS.minute.resolvedOptions().timeZone

// "28 Nov 2026", "28 Nov 2026, 14:05 CET", the same with seconds and milliseconds.
export const day = (instant) => FORMATS.day.format(instant)
export const toMinute = (instant) => FORMATS.minute.format(instant)
export const toSecond = (instant) => FORMATS.second.format(instant)
export const toMillisecond = (instant) => FORMATS.millisecond.format(instant)
// "14:05", "14:05:09" and "14:05:09.125", where the zone is shown elsewhere.
export const clock = (instant) => FORMATS.clock.format(instant)
export const clockSeconds = (instant) => FORMATS.clockSeconds.format(instant)
export const clockMilliseconds = (instant) => FORMATS.clockMilliseconds.format(instant)

// "28 Nov, 14:05", or "28 Nov 2025" in another year, for narrow columns.
export function short(instant, now = Date.now()) {
  const isThisYear = yearOf(instant) === yearOf(now)
  return isThisYear ? FORMATS.dayOfYear.format(instant) : day(instant)
}

// Both the selected zone and UTC, for tooltips.
export function full(instant) {
  const utc = `${new Date(instant).toISOString().slice(0, 19).replace("T", " ")} UTC`
  return zoneName() === UTC ? utc : `${toSecond(instant)} (${zoneName()})\n${utc}`
}

// UTC offset of the zone at a time, in milliseconds.
export function offsetAt(instant) {
  return isUtc() ? 0 : -new Date(instant).getTimezoneOffset() * MINUTE_MS
}

const yearOf = (instant) => new Date(Number(instant) + offsetAt(instant)).getUTCFullYear()
