// Time of a log line relative to the start of the run.

export function relative(milliseconds) {
  const sign = milliseconds < 0 ? "-" : "+"
  const tenths = Math.floor(Math.abs(milliseconds) / 100)
  const seconds = Math.floor(tenths / 10)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${sign}${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}.${tenths % 10}`
}

function twoDigits(number) {
  return String(number).padStart(2, "0")
}
