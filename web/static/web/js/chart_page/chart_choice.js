// Dialog that selects one or several series. Resolves to their paths.

import { createElement as text } from "../core/elements.js"
import { gettext } from "../core/texts.js"
import { restOf } from "./more_charts.js"

const MAX_SHOWN = 100

export function choice(page) {
  const dialog = page.part("choose")
  const field = dialog.querySelector('input[name="part"]')
  const list = page.part("choices")
  let chosen = []
  let isSingle = false

  function show() {
    const searched = field.value.toLowerCase()
    const matching = pathsOf(page).filter((path) => path.toLowerCase().includes(searched))
    // Selected series stay visible during further searches.
    const paths = [...chosen, ...matching.filter((path) => !chosen.includes(path))]
    const rows = paths.slice(0, MAX_SHOWN).map(row)
    if (paths.length > MAX_SHOWN) rows.push(text("p", "muted", gettext("%(count)s more. Type to filter.", { count: paths.length - MAX_SHOWN })))
    list.replaceChildren(...rows)
  }

  function row(path) {
    const label = document.createElement("label")
    const input = document.createElement("input")
    input.type = isSingle ? "radio" : "checkbox"
    input.name = "series"
    input.value = path
    input.checked = chosen.includes(path)
    label.append(input, text("bdi", "mono", path))
    return label
  }

  field.addEventListener("input", show)
  field.addEventListener("keydown", (event) => {
    // Enter would submit the form.
    if (event.key === "Enter") event.preventDefault()
  })
  list.addEventListener("change", ({ target }) => {
    const others = isSingle ? [] : chosen.filter((path) => path !== target.value)
    chosen = target.checked ? [...others, target.value] : others
  })
  dialog.querySelector('[data-do="cancel"]').addEventListener("click", () => dialog.close(""))

  return function choose(options) {
    isSingle = options.isSingle ?? false
    chosen = options.chosen
    page.part("choose-title").textContent = options.title
    page.part("choose-hint").textContent = options.hint
    field.value = ""
    dialog.returnValue = ""
    show()
    dialog.showModal()
    return new Promise((resolve) => {
      const closed = () => resolve(dialog.returnValue === "yes" ? chosen : [])
      dialog.addEventListener("close", closed, { once: true })
    })
  }
}

function pathsOf(page) {
  const charts = page.list.querySelectorAll("[data-chart]:not([data-map])")
  const paths = [...charts].map((chart) => JSON.parse(chart.dataset.chart)).filter(({ length }) => length === 1)
  const maps = new Set(JSON.parse(page.data.maps ?? "[]"))
  const rest = [...page.list.querySelectorAll("[data-rest]")].flatMap(restOf).filter((path) => !maps.has(path))
  return [...new Set([...paths.flat(), ...rest])].sort()
}
