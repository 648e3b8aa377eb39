// Redraws charts that have outgrown their axes, one at a time, when the page is idle: all
// of them at once would hold the reader up.

const LONGEST_WAIT_MS = 1_000

const waiting = new Set()
const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 50))

export function settleLater(chart) {
  waiting.add(chart)
  if (waiting.size === 1) whenIdle(next, { timeout: LONGEST_WAIT_MS })
}

async function next() {
  const chart = waiting.values().next().value
  if (!document.hidden) await chart.settle()
  waiting.delete(chart)
  if (waiting.size) whenIdle(next, { timeout: LONGEST_WAIT_MS })
}
