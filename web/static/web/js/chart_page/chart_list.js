// Charts of a run: toolbar with axis, display options and zoom. Everything is in the URL, so that
// links show the same.

import { ArrangedPage } from "./arranged_page.js"
import { arranging } from "./arranging.js"
import { search } from "./chart_search.js"
import { liveStatus } from "../charts/live_status.js"
import { gettext } from "../core/texts.js"

const WAIT_MS = 150
const FIGURE_OPTIONS = ["axis", "over", "log", "logx", "clip", "smoothing", "smoother", "low", "high"]
// A zoom range is meaningless on another axis.
const ANOTHER_AXIS = { over: null, low: null, high: null }

class Page extends ArrangedPage {
  redraw(changes) {
    this.set(changes)
    this.changed()
    const parameters = this.options
    const given = FIGURE_OPTIONS.filter((name) => parameters.has(name))
    this.data.chartQuery = new URLSearchParams(given.map((name) => [name, parameters.get(name)]))
    reflect(this)
    for (const chart of this.charts()) chart.dispatchEvent(new CustomEvent("chart-refresh"))
  }
}

export default function chartList(list) {
  const page = new Page(list, {
    names: FIGURE_OPTIONS,
    async goBack(parameters, arrangement) {
      if (arrangement === null) return page.redraw(parameters)
      page.set(parameters)
      page.arrange(arrangement)
      page.arranged()
      await page.reload()
    },
  })
  const { choose, shelf } = arranging(page)
  bar(page, choose)
  search(page, shelf.look)
  liveStatus(page)
}

function bar(page, choose) {
  for (const button of page.list.querySelectorAll("[data-axis]")) {
    const { axis, over = null } = button.dataset
    button.addEventListener("click", () => page.redraw({ ...ANOTHER_AXIS, axis, over }))
  }
  page.part("choose-axis").addEventListener("click", async () => {
    const [over] = await choose({
      title: gettext("Choose X axis"),
      hint: gettext("The X axis shows the values of this series at the same steps."),
      chosen: [page.options.get("over")].filter(Boolean),
      isSingle: true,
    })
    if (over) page.redraw({ ...ANOTHER_AXIS, axis: "series", over })
  })
  for (const button of page.list.querySelectorAll("[data-option]")) {
    const name = button.dataset.option
    button.addEventListener("click", () => page.redraw({ [name]: page.options.get(name) === "1" ? null : "1" }))
  }
  page.part("unzoom").addEventListener("click", () => page.redraw({ low: null, high: null }))

  let waiting
  page.part("smoothing").addEventListener("input", ({ target }) => {
    clearTimeout(waiting)
    waiting = setTimeout(() => page.redraw({ smoothing: +target.value ? target.value : null }), WAIT_MS)
  })
  page.part("smoother").addEventListener("change", ({ target }) => {
    page.redraw({ smoother: target.value || null })
  })
  page.list.addEventListener("chart-zoom", (event) => {
    event.preventDefault()
    page.redraw({ low: event.detail?.low ?? null, high: event.detail?.high ?? null })
  })
}

function reflect(page) {
  const axis = page.options.get("axis") ?? "step"
  const over = page.options.get("over") ?? ""
  let isNamed = false
  for (const button of page.list.querySelectorAll("[data-axis]")) {
    const isThis = button.dataset.axis === axis && (button.dataset.over ?? "") === over
    button.setAttribute("aria-pressed", isThis)
    isNamed ||= isThis
  }
  page.part("choose-axis").setAttribute("aria-pressed", !isNamed)
  for (const button of page.list.querySelectorAll("[data-option]")) {
    button.setAttribute("aria-pressed", page.options.get(button.dataset.option) === "1")
  }
  page.part("unzoom").hidden = !page.options.has("low")
  const smoother = page.part("smoother")
  smoother.value = page.options.get("smoother") ?? ""
  const smoothing = page.part("smoothing")
  if (smoothing === document.activeElement) return
  smoothing.value = page.options.get("smoothing") ?? "0"
  smoothing.nextElementSibling.value = Number(smoothing.value).toFixed(2)
}
