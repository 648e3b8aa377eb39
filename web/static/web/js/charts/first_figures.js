// Figures that the page asked for in its head, before any of its scripts was there:
// <link rel="preload" as="fetch" data-part="first-figures"> names them in its address.
// Each is taken once, by the chart that would have asked for it.

import { cutBundle } from "./figure_columns.js"

// Whoever scrolls down later wants what is new.
const LONGEST_WAIT_MS = 30_000

const link = document.querySelector('link[data-part="first-figures"]')
const address = link && new URL(link.href)
// What one of them is called in the address.
const each = link?.dataset.each
const places = new Map(address?.searchParams.getAll(each).map((chart, place) => [same(chart), place]))
const query = without(address, each)
// At once: browsers warn of what was asked for early, and then not used.
const bundle = link && fetched()

// Resolves to the figure, or to null if it did not come; null if it was never asked for.
// `place` is where the batch is and what all its charts share, `chart` what this one is.
export function takeFirst(place, chart) {
  const asked = new URL(place, document.baseURI)
  const number = places.get(same(chart))
  if (number === undefined || performance.now() > LONGEST_WAIT_MS) return null
  if (asked.pathname !== address.pathname || without(asked, each) !== query) return null
  places.delete(same(chart))
  return bundle.then((figures) => figures[number] ?? null)
}

// As the link asks, or the browser would ask once more. A refusal is nothing to show yet:
// the chart asks for itself, and says what it is told.
async function fetched() {
  try {
    const response = await fetch(link.href)
    return response.ok ? cutBundle(await response.arrayBuffer()) : []
  } catch {
    return []
  }
}

// Server and browser write the same parameters with other escapes.
function same(parameters) {
  return new URLSearchParams(parameters).toString()
}

function without(url, name) {
  const parameters = new URLSearchParams(url?.searchParams)
  parameters.delete(name)
  return parameters.toString()
}
