// Redraws charts that have outgrown their axes, one at a time, when the page is idle: all
// of them at once would hold the reader up. Charts that will before long take their turns
// earlier, as those of a run outgrow their axes at the same step.

const LONGEST_WAIT_MS = 1_000
const MIN_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

const waiting = new Set()
// Charts whose lines will reach the end of their axis, and when.
const leaving = new Map()
let pause = null
const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 50))

export function settleLater(chart) {
  waiting.add(chart)
  if (waiting.size === 1) whenIdle(next, { timeout: LONGEST_WAIT_MS })
}

export function settleBefore(chart, moment) {
  leaving.set(chart, moment)
  pause ??= setTimeout(() => whenIdle(nextLeaving), pauseMs())
}

// It has other axes by now, or none.
export function settled(chart) {
  leaving.delete(chart)
}

async function next() {
  const chart = waiting.values().next().value
  if (!document.hidden) await chart.settle()
  waiting.delete(chart)
  if (waiting.size) whenIdle(next, { timeout: LONGEST_WAIT_MS })
}

async function nextLeaving() {
  const chart = leaving.keys().next().value
  leaving.delete(chart)
  if (chart && !document.hidden) await chart.settle()
  pause = leaving.size ? setTimeout(() => whenIdle(nextLeaving), pauseMs()) : null
}

// So long that all of them have had their turn when the first would leave its axis.
function pauseMs() {
  const left = Math.min(...leaving.values()) - performance.now()
  return Math.min(LONGEST_PAUSE_MS, Math.max(MIN_PAUSE_MS, left / (leaving.size + 1)))
}
