// Counts on for how long something has been going on, from what the server said; an
// answer that only says it is later now need not come.
//
// data-seconds  how long it was when the page was made
import { setText } from "../models/elements.js"
import { duration } from "../models/format.js"

const EVERY_MS = 4_000

const counted = new Map()

export default function goingOn(element) {
  counted.set(element, performance.now() - Number(element.dataset.seconds) * 1_000)
}

setInterval(() => {
  if (document.hidden) return
  for (const [element, began] of counted) {
    if (element.isConnected) setText(element, duration(Math.floor((performance.now() - began) / 1_000)))
    else counted.delete(element)
  }
}, EVERY_MS)
