// Figures preloaded by the page head: <link rel="preload" as="fetch" data-part="first-figures">
// holds the URL. Each is used once, by the chart that would have requested it.

import { cutBundle } from "./figure_columns.js"

// Charts that appear later request current data.
const MAX_AGE_MS = 30_000

const link = document.querySelector('link[data-part="first-figures"]')
const address = link && new URL(link.href)
// The parameter name of a chart.
const each = link?.dataset.each
const places = new Map(address?.searchParams.getAll(each).map((chart, place) => [same(chart), place]))
const query = without(address, each)
// Fetched at once, because browsers warn about unused preloads.
const bundle = link && fetched()

// Resolves to the figure, or to null on failure; returns null if it was not preloaded. `place` is
// the batch URL with the shared query, `chart` the parameters of this chart.
export function takePreloaded(place, chart) {
  const url = new URL(place, document.baseURI)
  const number = places.get(same(chart))
  if (number === undefined || performance.now() > MAX_AGE_MS) return null
  if (url.pathname !== address.pathname || without(url, each) !== query) return null
  places.delete(same(chart))
  return bundle.then((figures) => figures[number] ?? null)
}

// Must match the preload link to avoid a second request. Errors are ignored: the chart sends its
// own request and reports its error.
async function fetched() {
  try {
    const response = await fetch(link.href)
    return response.ok ? cutBundle(await response.arrayBuffer()) : []
  } catch {
    return []
  }
}

// Normalizes escapes, which differ between server and browser.
function same(parameters) {
  return new URLSearchParams(parameters).toString()
}

function without(url, name) {
  const parameters = new URLSearchParams(url?.searchParams)
  parameters.delete(name)
  return parameters.toString()
}
