// Filters the rows of a table, or the elements with data-row, by the typed text and shows the
// number of matches. A data-rows element is hidden while none of its rows matches.
//
// data-count  the element that shows the number; its data-all is the total
// data-row    the text that is searched; of a table, that of the cells
import { setText } from "../core/elements.js"
import { gettext } from "../core/texts.js"

export default function filterRows(input) {
  const list = document.getElementById(input.getAttribute("aria-controls"))
  const count = document.getElementById(input.dataset.count)

  function filter() {
    const searched = input.value.trim().toLowerCase()
    let shown = 0
    for (const row of rowsOf(list)) {
      row.hidden = !textOf(row).toLowerCase().includes(searched)
      if (!row.hidden) shown += 1
    }
    for (const group of list.querySelectorAll("[data-rows]")) group.hidden = !group.querySelector("[data-row]:not([hidden])")
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

function rowsOf(list) {
  return list.tBodies ? list.tBodies[0].rows : list.querySelectorAll("[data-row]")
}

function textOf(row) {
  return row.cells ? [...row.cells].map((cell) => cell.textContent).join(" ") : row.dataset.row
}
