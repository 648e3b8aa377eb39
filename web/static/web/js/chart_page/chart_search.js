// Search above the charts of a run. Substrings are matched here, regular expressions on the server,
// which limits their time.
import { tidy } from "./chart_cards.js"
import { foundRest } from "./more_charts.js"
import { gettext, ngettext } from "../core/texts.js"

const WAIT_MS = 120

// `onFound` is called after each search.
export function search(page, onFound) {
  const field = page.list.querySelector('input[name="search"]')
  const regex = page.list.querySelector('input[name="regex"]')
  let waiting
  let request

  function runSearch() {
    page.set({ search: field.value || null, regex: regex.checked ? "1" : null })
    clearTimeout(waiting)
    request?.abort()
    if (!regex.checked || !field.value) return show({ part: field.value })
    waiting = setTimeout(searchServer, WAIT_MS)
  }

  function show(answer) {
    found(page, answer)
    onFound()
  }

  async function searchServer() {
    request = new AbortController()
    const parameters = new URLSearchParams({ search: field.value, regex: "1" })
    try {
      const response = await fetch(`${page.list.dataset.searchUrl}?${parameters}`, {
        headers: { Accept: "application/json" },
        signal: request.signal,
      })
      if (!response.ok) return showStatus(page, gettext("Search is not available right now. Try again in a moment."))
      const { paths, count, mistake } = await response.json()
      show({ paths: new Set(paths), count, mistake, part: field.value })
    } catch (error) {
      if (error.name !== "AbortError") showStatus(page, gettext("The server is not responding."))
    }
  }

  field.addEventListener("input", runSearch)
  regex.addEventListener("change", runSearch)
  // The URL holds a search.
  if (field.value) runSearch()
}

// Shows the charts with one of these paths or, without paths, with this substring.
function found(page, { paths = null, count, mistake = "", part }) {
  showStatus(page, mistake && gettext("Invalid regular expression: %(why)s.", { why: mistake }))
  // An expression is usually invalid while being typed.
  if (mistake) return
  const searched = part.toLowerCase()
  page.isFound = paths
    ? (path) => paths.has(path)
    : (path) => path.toLowerCase().includes(searched)
  const matching = new Set()
  for (const chart of page.charts()) {
    const own = JSON.parse(chart.dataset.chart)
    chart.hidden = !own.some(page.isFound)
    if (!chart.hidden && own.length === 1) matching.add(own[0])
  }
  for (const section of page.list.querySelectorAll('[data-part="section"]')) {
    for (const path of foundRest(page, section)) matching.add(path)
    const shown = tidy(page, section)
    // Expands matching sections without storing it.
    if (part && shown) section.open = true
  }
  const total = count ?? matching.size
  page.part("none").hidden = total > 0
  page.part("count").textContent = ngettext("%(count)s series", "%(count)s series", total)
}

function showStatus(page, text) {
  const mistake = page.part("mistake")
  mistake.textContent = text
  mistake.hidden = !text
}
