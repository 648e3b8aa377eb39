// Shows a moment in the reader's own time zone; without script it stays in UTC.
import { setText } from "../models/elements.js"

const MINUTES = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
}
const FORMAT = new Intl.DateTimeFormat("en-GB", MINUTES)
const EXACT = new Intl.DateTimeFormat("en-GB", { ...MINUTES, second: "2-digit" })

export default function localTime(element) {
  const moment = new Date(element.dateTime)
  element.title = `${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`
  if (element.dataset.relative !== undefined) return
  setText(element, (element.dataset.seconds === undefined ? FORMAT : EXACT).format(moment))
}
