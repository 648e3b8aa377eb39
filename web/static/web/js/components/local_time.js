// Shows a time in the selected zone; without scripts it stays in UTC.
//
// data-precision   "day", "minute" or "second"; without it only the tooltip is set
import { day, full, toMinute, toSecond } from "../core/clock.js"
import { setText } from "../core/elements.js"

const FORMATS = { day, minute: toMinute, second: toSecond }

export default function localTime(element) {
  const instant = new Date(element.dateTime)
  element.title = full(instant)
  const format = FORMATS[element.dataset.precision]
  if (format) setText(element, format(instant))
}
