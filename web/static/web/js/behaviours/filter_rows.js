// Hides the rows of a table that lack what is typed; says how many are left.
import { gettext } from "../texts.js"

export default function filterRows(input) {
  const rows = [...document.getElementById(input.getAttribute("aria-controls")).tBodies[0].rows]
  const texts = rows.map((row) =>
    [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" "),
  )
  const count = document.getElementById(input.dataset.count)
  const all = count.textContent

  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase()
    let shown = 0
    rows.forEach((row, index) => {
      row.hidden = !texts[index].includes(wanted)
      if (!row.hidden) shown += 1
    })
    count.textContent = wanted ? gettext("%(count)s of %(all)s", { count: shown, all }) : all
  })
}
