// Batches the chart requests of one task. Each chart sends its version and gets the changes, or
// null if nothing has changed.

import { cutBundle } from "./figure_columns.js"
import { takePreloaded } from "./first_figures.js"
import { errorOf } from "./refusal.js"

const ACCEPT = "application/json, application/vnd.seamark.figures"
// URL length limits of the server and of proxies.
const MAX_CHARTS = 40
const MAX_LINES = 200
const MAX_LETTERS = 7_000

const waiting = new Map()

// `query` is shared by all charts of the page, `chart` identifies this one, and `each` is the
// parameter name of a chart.
export async function requestBatched(address, request) {
  const place = `${address}?${request.query}`
  const first = request.mayBeFirst ? takePreloaded(place, request.chart) : null
  const figure = first && (await first)
  request.signal.throwIfAborted()
  return figure ?? wait(place, request)
}

function wait(place, { chart, each, lines, version, signal }) {
  return new Promise((resolve, reject) => {
    if (!waiting.has(place)) {
      waiting.set(place, [])
      queueMicrotask(() => send(place, each))
    }
    waiting.get(place).push({ chart: chart.toString(), lines, version, signal, resolve, reject })
  })
}

function send(place, name) {
  const queued = waiting.get(place)
  waiting.delete(place)
  for (const batch of batches(queued, MAX_LETTERS - place.length, name)) sendBatch(place, batch, name)
}

function batches(requests, mostLetters, name) {
  const found = []
  let letters = Infinity
  let lines = 0
  for (const each of requests) {
    const more = encodeURIComponent(each.chart).length + name.length + 2
    const isFull = found.length && (found.at(-1).length >= MAX_CHARTS || lines + each.lines > MAX_LINES)
    if (letters + more > mostLetters || isFull) {
      found.push([])
      letters = lines = 0
    }
    found.at(-1).push(each)
    letters += more
    lines += each.lines
  }
  return found
}

async function sendBatch(place, batch, name) {
  try {
    const address = new URL(place, document.baseURI)
    for (const { chart } of batch) address.searchParams.append(name, chart)
    const versions = batch.filter(({ version }) => version).map(({ version }) => `W/"${version}"`)
    const response = await fetch(address, {
      headers: { Accept: ACCEPT, ...(versions.length && { "If-None-Match": versions.join(", ") }) },
      signal: whenAllAborted(batch),
    })
    const figures = response.status === 304 ? [] : await readFigures(response)
    batch.forEach(({ resolve }, place) => resolve(figures[place] ?? null))
  } catch (error) {
    batch.forEach(({ reject }) => reject(error))
  }
}

async function readFigures(response) {
  if (!response.ok) throw await errorOf(response)
  return cutBundle(await response.arrayBuffer())
}

// Aborts the request only when all charts of the batch have aborted.
function whenAllAborted(batch) {
  const controller = new AbortController()
  let left = batch.length
  for (const { signal, reject } of batch) {
    signal.addEventListener("abort", () => {
      reject(signal.reason)
      left -= 1
      if (left === 0) controller.abort(signal.reason)
    })
  }
  return controller.signal
}
