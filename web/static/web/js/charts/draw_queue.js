// Draws what is near the window, one chart per task, and forgets what is far from it.
// So a page of 200 charts opens as fast as one of 10, and scrolls.

// Enough to hide the way to the server. Charts that share a request need no such limit.
const AT_ONCE = 4

const NEAR = "400px 0px"
const FAR = "2500px 0px"
const LONGEST_PAINT_MS = 200

const charts = new WeakMap()
const watched = new Set()
const waiting = new Set()
const turns = []
let busy = 0
let isHeld = false
let painting = null

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      isIntersecting ? waiting.add(target) : waiting.delete(target)
      charts.get(target).isNear = isIntersecting
    }
    next()
  },
  { rootMargin: NEAR },
)

const far = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting && !isHeld) charts.get(target).forget()
    }
  },
  { rootMargin: FAR },
)

function next() {
  if (isHeld) return
  for (const element of [...waiting]) {
    const chart = charts.get(element)
    if (!chart.isBatched && busy >= AT_ONCE) continue
    waiting.delete(element)
    draw(element, chart)
  }
}

async function draw(element, chart) {
  const slots = chart.isBatched ? 0 : 1
  busy += slots
  if (element.isConnected) await chart.draw()
  busy -= slots
  if (slots) next()
}

// Resolves in a task of its own: between two charts the page answers to the reader. First
// comes the chart that the reader points at.
export function turn(element) {
  return new Promise((resolve) => {
    turns.push({ element, resolve })
    if (turns.length === 1) setTimeout(take)
  })
}

function take() {
  const pointed = turns.findIndex(({ element }) => element.matches(":hover, :focus-within"))
  const [{ resolve }] = turns.splice(Math.max(0, pointed), 1)
  resolve()
  if (turns.length) setTimeout(take)
}

// Resolves when the browser is about to show what is in the page now.
export function seen() {
  if (document.hidden) return Promise.resolve()
  painting ??= new Promise((resolve) => {
    const done = () => {
      painting = null
      clearTimeout(latest)
      resolve()
    }
    // A window that is covered by another may show nothing for long.
    const latest = setTimeout(done, LONGEST_PAINT_MS)
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

// While charts are printed they stay, and none is drawn because of where it stands then.
export function hold() {
  isHeld = true
}

export function release() {
  isHeld = false
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
