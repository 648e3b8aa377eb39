// Shows a moment in the reader's own time zone; without script it stays in UTC.
import { setText } from "../models/elements.js"

const FORMAT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
})

export default function localTime(element) {
  const moment = new Date(element.dateTime)
  element.title = `${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`
  if (element.dataset.relative === undefined) setText(element, FORMAT.format(moment))
}
