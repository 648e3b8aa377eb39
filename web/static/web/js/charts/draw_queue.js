// Draws what is near the window, one chart per task, and forgets what is far from it.
// So a page of 200 charts opens as fast as one of 10, and scrolls.

// Enough to hide the way to the server; each figure still arrives in a task of its own.
const AT_ONCE = 4

const NEAR = "400px 0px"
const FAR = "2500px 0px"

const charts = new WeakMap()
const waiting = new Set()
let busy = 0

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
      if (!isIntersecting) charts.get(target).forget()
    }
  },
  { rootMargin: FAR },
)

async function next() {
  if (busy >= AT_ONCE || !waiting.size) return
  const element = waiting.values().next().value
  waiting.delete(element)
  busy += 1
  next()

  if (element.isConnected) await charts.get(element).draw()
  // Between two charts the page answers to the reader.
  await new Promise((resume) => setTimeout(resume))
  busy -= 1
  next()
}

export function watch(element, chart) {
  charts.set(element, chart)
  near.observe(element)
  far.observe(element)
}

export function unwatch(element) {
  near.unobserve(element)
  far.unobserve(element)
  waiting.delete(element)
}

export function drawSoon(element) {
  waiting.add(element)
  next()
}
