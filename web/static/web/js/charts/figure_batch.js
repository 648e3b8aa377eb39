// Asks for many charts in one request: what is asked for within one task goes
// together. Each chart says what it holds, and gets what it lacks, or null for nothing.

import { cutBundle } from "./figure_columns.js"
import { takeFirst } from "./first_figures.js"
import { refusal } from "./refusal.js"

const ACCEPT = "application/json, application/vnd.seamark.figures"
// What the server, and proxies before it, take in one address.
const MAX_CHARTS = 40
const MAX_LINES = 200
const MAX_LETTERS = 7_000

const waiting = new Map()

// `query` is what all charts of the page share, `chart` what this one alone asks for, and
// `each` what a chart is called in the address.
export async function askTogether(address, asked) {
  const place = `${address}?${asked.query}`
  const first = asked.mayBeFirst ? takeFirst(place, asked.chart) : null
  const figure = first && (await first)
  asked.signal.throwIfAborted()
  return figure ?? wait(place, asked)
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
  const asked = waiting.get(place)
  waiting.delete(place)
  for (const batch of batches(asked, MAX_LETTERS - place.length, name)) ask(place, batch, name)
}

function batches(asked, mostLetters, name) {
  const found = []
  let letters = Infinity
  let lines = 0
  for (const each of asked) {
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

async function ask(place, batch, name) {
  try {
    const address = new URL(place, document.baseURI)
    for (const { chart } of batch) address.searchParams.append(name, chart)
    const versions = batch.filter(({ version }) => version).map(({ version }) => `W/"${version}"`)
    const response = await fetch(address, {
      headers: { Accept: ACCEPT, ...(versions.length && { "If-None-Match": versions.join(", ") }) },
      signal: onceAllGaveUp(batch),
    })
    const figures = response.status === 304 ? [] : await bodies(response)
    batch.forEach(({ resolve }, place) => resolve(figures[place] ?? null))
  } catch (error) {
    batch.forEach(({ reject }) => reject(error))
  }
}

async function bodies(response) {
  if (!response.ok) throw await refusal(response)
  return cutBundle(await response.arrayBuffer())
}

// One chart that asks for something else must not take the others' answer away.
function onceAllGaveUp(batch) {
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
