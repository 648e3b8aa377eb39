// Counts elapsed time in the browser, so that polls need not update it.
//
// data-seconds  elapsed seconds when the page was rendered
import { setText } from "../core/elements.js"
import { duration } from "../core/format.js"

// Same interval as the polls, so that changes share a layout and paint.
const INTERVAL_MS = 5_000

const counted = new Map()

// Restarts only if a morph brought a new value.
export default function elapsedTime(element) {
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
}, INTERVAL_MS)
