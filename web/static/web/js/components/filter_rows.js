// Filters the rows of a table by the typed text and shows the number of matches.
//
// data-count  the element that shows the number; its data-all is the total
import { setText } from "../core/elements.js"
import { gettext } from "../core/texts.js"

export default function filterRows(input) {
  const table = document.getElementById(input.getAttribute("aria-controls"))
  const count = document.getElementById(input.dataset.count)

  function filter() {
    const searched = input.value.trim().toLowerCase()
    let shown = 0
    for (const row of table.tBodies[0].rows) {
      row.hidden = ![...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" ").includes(searched)
      if (!row.hidden) shown += 1
    }
    const { all } = count.dataset
    setText(count, searched ? gettext("%(count)s of %(all)s", { count: shown, all }) : all)
  }

  input.addEventListener("input", filter)
  // Filters again after a swap has replaced the rows.
  const ending = new AbortController()
  const refilter = () => {
    if (!input.isConnected) ending.abort()
    else if (input.value) filter()
  }
  document.addEventListener("htmx:after:swap", refilter, { signal: ending.signal })
}
