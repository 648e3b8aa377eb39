// Redraws charts whose lines have outgrown the axes, one at a time while the page is idle. Charts
// close to their limit go early, because all charts of a run reach it at the same step.

const IDLE_TIMEOUT_MS = 1_000
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000

const waiting = new Set()
// Charts and the estimated time at which their lines reach the end of the axis.
const leaving = new Map()
let pause = null
const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 50))

export function settleLater(chart) {
  waiting.add(chart)
  if (waiting.size === 1) whenIdle(next, { timeout: IDLE_TIMEOUT_MS })
}

export function settleBefore(chart, moment) {
  leaving.set(chart, moment)
  if (pause === null) pause = setTimeout(() => whenIdle(nextLeaving), pauseMs())
}

// The chart was redrawn or removed.
export function settled(chart) {
  leaving.delete(chart)
}

async function next() {
  const chart = waiting.values().next().value
  if (!document.hidden) await chart.settle()
  waiting.delete(chart)
  if (waiting.size) whenIdle(next, { timeout: IDLE_TIMEOUT_MS })
}

async function nextLeaving() {
  const chart = leaving.keys().next().value
  leaving.delete(chart)
  if (chart && !document.hidden) await chart.settle()
  pause = leaving.size ? setTimeout(() => whenIdle(nextLeaving), pauseMs()) : null
}

// Spreads the redraws over the time that is left.
function pauseMs() {
  const left = Math.min(...leaving.values()) - performance.now()
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, left / (leaving.size + 1)))
}
