// Counts on for how long something has been going on, from what the server said; an
// answer that only says it is later now need not come.
//
// data-seconds  how long it was when the page was made
import { setText } from "../core/elements.js"
import { duration } from "../core/format.js"

// As often as live pages ask: what changes together is laid out and painted together.
const EVERY_MS = 5_000

const counted = new Map()

// A morph may have brought what the server says by now; else counting goes on.
export default function goingOn(element) {
  const { seconds } = element.dataset
  if (counted.get(element)?.seconds === seconds) return
  counted.set(element, { seconds, began: performance.now() - Number(seconds) * 1_000 })
}

setInterval(() => {
  if (document.hidden) return
  for (const [element, { began }] of counted) {
    if (element.isConnected && element.dataset.seconds !== undefined) setText(element, duration(Math.floor((performance.now() - began) / 1_000)))
    else counted.delete(element)
  }
}, EVERY_MS)
