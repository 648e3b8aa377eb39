// Draws charts near the viewport, one per task, and releases charts far from it, so that a page
// with 200 charts loads and scrolls like one with 10.

// Enough to hide network latency. Batched charts are not limited.
const MAX_PARALLEL = 4

const NEAR = "400px 0px"
const FAR = "2500px 0px"
const PAINT_TIMEOUT_MS = 200
// Maximum time that visible charts wait for the placeholders of the others.
const RESPONSE_TIMEOUT_MS = 500

const charts = new WeakMap()
const watched = new Set()
const waiting = new Set()
const turns = []
let busy = 0
let isPaused = false
let painting = null
// Number of visible charts without a placeholder, and the promise that waits for them.
let unanswered = 0
let answering = null

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect: { top, bottom } } of entries) {
      isIntersecting ? waiting.add(target) : waiting.delete(target)
      const chart = charts.get(target)
      chart.isNear = isIntersecting
      chart.isInWindow = isIntersecting && bottom > 0 && top < innerHeight
    }
    next()
  },
  { rootMargin: NEAR },
)

const far = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting && !isPaused) charts.get(target).forget()
    }
  },
  { rootMargin: FAR },
)

function next() {
  if (isPaused) return
  for (const element of [...waiting]) {
    const chart = charts.get(element)
    if (!chart.isBatched && busy >= MAX_PARALLEL) continue
    waiting.delete(element)
    draw(element, chart)
  }
}

async function draw(element, chart) {
  if (!element.isConnected) return
  const slots = chart.isBatched ? 0 : 1
  const isSeen = chart.isInWindow && !chart.isDrawn
  busy += slots
  unanswered += isSeen
  await chart.draw(() => {
    busy -= slots
    // Runs after the placeholder is in place.
    if (isSeen) setTimeout(answered)
    if (slots) next()
  })
}

function answered() {
  unanswered -= 1
  if (!unanswered) answering?.done()
}

// Resolves when all visible charts have a response, or after the timeout: showing all charts comes
// before making one interactive.
export function allAnswered() {
  if (!unanswered) return Promise.resolve()
  answering ??= waitForAnswers()
  return answering.promise
}

function waitForAnswers() {
  const wait = {}
  wait.promise = new Promise((resolve) => {
    const latest = setTimeout(() => wait.done(), RESPONSE_TIMEOUT_MS)
    wait.done = () => {
      answering = null
      clearTimeout(latest)
      resolve()
    }
  })
  return wait
}

// Resolves in a separate task to keep the page responsive. The chart under the pointer comes first.
export function nextTurn(element) {
  return new Promise((resolve) => {
    turns.push({ element, resolve })
    if (turns.length === 1) setTimeout(runNext)
  })
}

function runNext() {
  const pointed = turns.findIndex(({ element }) => element.matches(":hover, :focus-within"))
  const [{ resolve }] = turns.splice(Math.max(0, pointed), 1)
  resolve()
  if (turns.length) setTimeout(runNext)
}

// Resolves just before the next paint.
export function nextPaint() {
  if (document.hidden) return Promise.resolve()
  painting ??= new Promise((resolve) => {
    const done = () => {
      painting = null
      clearTimeout(latest)
      resolve()
    }
    // Fallback for covered windows, which may not paint.
    const latest = setTimeout(done, PAINT_TIMEOUT_MS)
    requestAnimationFrame(done)
  })
  return painting
}

export function watch(element, chart) {
  charts.set(element, chart)
  watched.add(element)
  near.observe(element)
  far.observe(element)
}

export function unwatch(element) {
  near.unobserve(element)
  far.unobserve(element)
  waiting.delete(element)
  watched.delete(element)
}

export function drawSoon(element) {
  waiting.add(element)
  next()
}

// Keeps all charts while printing and starts no others.
export function pauseQueue() {
  isPaused = true
}

export function release() {
  isPaused = false
  for (const element of watched) {
    for (const observer of [near, far]) {
      observer.unobserve(element)
      observer.observe(element)
    }
  }
}

export function all() {
  return [...watched].map((element) => charts.get(element))
}

export function chartOf(element) {
  return charts.get(element)
}
