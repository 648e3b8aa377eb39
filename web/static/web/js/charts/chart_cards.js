// Arranges the charts of a page: pinned ones at the top, joined ones after them, sections
// open or folded, charts as large as their reader wants them.

import { MOST_LINES } from "../models/arrangement.js"
import { follow } from "../models/drag.js"
import { made } from "../models/elements.js"
import { toast } from "../toasts.js"
import { tidy } from "./chart_search.js"
import { gettext } from "../texts.js"

const MEASURED = "monitoring/"
const LEAST_PIXELS = 120
const MOST_PIXELS = 2_000
const STEP_PIXELS = 20
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

export function cards(page) {
  const { arrangement } = page

  for (const section of sections(page)) {
    const summary = section.querySelector("summary")
    // Not "toggle", which the page and the search cause, too.
    summary.addEventListener("click", () => {
      const name = section.dataset.section
      const isOpenByItself = "chosen" in section.dataset || !name.startsWith(MEASURED)
      arrangement.fold(name, !section.open, isOpenByItself)
      page.arranged()
    })
  }
  for (const button of page.list.querySelectorAll("button[data-size]")) {
    button.addEventListener("click", () => {
      arrangement.size = page.list.dataset.size = button.dataset.size
      for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button)
      page.arranged()
    })
  }
  const fitAll = () => page.charts().forEach(fit)
  fitAll()
  window.addEventListener("resize", fitAll)

  return {
    pin(chart, isPinned) {
      arrangement.pin(chart.dataset.chart, isPinned)
      place(page, chart)
      page.arranged()
    },

    // Shows the chart of these lines, whether it was there or not.
    join(paths) {
      const key = arrangement.join(paths)
      if (key === null) return toast(gettext("One chart holds %(count)s series; these are more.", { count: MOST_LINES }), { isError: true })
      const chart = chartOfKey(page, key) ?? newChart(page, key)
      place(page, chart)
      page.arranged()
      chart.scrollIntoView({ block: "center" })
    },

    split(chart) {
      arrangement.split(chart.dataset.chart)
      const section = chart.closest('[data-part="section"]')
      chart.remove()
      tidy(section)
      page.arranged()
    },

    setLog(chart, isLog) {
      arrangement.setLog(chart.dataset.chart, isLog)
      isLog ? (chart.dataset.own = "log") : delete chart.dataset.own
      page.arranged()
      chart.dispatchEvent(new CustomEvent("chart-refresh"))
    },

    usualSize(chart) {
      arrangement.resize(chart.dataset.chart, null)
      delete chart.dataset.columns
      delete chart.dataset.height
      fit(chart)
      page.arranged()
    },

    addHandle(chart) {
      const handle = page.part("handle").content.firstElementChild.cloneNode(true)
      chart.append(handle)
      resizeBy(handle, chart, ([columns, height]) => {
        arrangement.resize(chart.dataset.chart, [columns, height])
        page.arranged()
      })
    },
  }
}

function sections(page) {
  return page.list.querySelectorAll('[data-part="section"]')
}

function chartOfKey(page, key) {
  return [...page.charts()].find((chart) => chart.dataset.chart === key)
}

// Puts a chart where it belongs: among the pinned, the joined, or those of its namespace.
function place(page, chart) {
  const key = chart.dataset.chart
  const paths = JSON.parse(key)
  const name = page.arrangement.isPinned(key) ? "pinned" : paths.length > 1 ? "joined" : namespaceOf(paths[0])
  const from = chart.closest('[data-part="section"]')
  const to = [...sections(page)].find((section) => section.dataset.section === name)
  if (!to || from === to) return
  const grid = to.querySelector(".charts__grid")
  "chosen" in to.dataset ? grid.append(chart) : grid.prepend(chart)
  for (const section of new Set([from, to])) if (section) tidy(section)
  to.open = true
}

// As web/chart_sections.py has it.
function namespaceOf(path) {
  const parts = path.split("/")
  const depth = path.startsWith(MEASURED) ? 2 : 1
  return parts.length > depth ? `${parts.slice(0, depth).join("/")}/` : ""
}

function newChart(page, key) {
  const paths = JSON.parse(key)
  const title = paths.join(", ")
  const chart = document.createElement("figure")
  chart.className = "card chart"
  const query = new URLSearchParams(paths.map((path) => ["path", path]))
  Object.assign(chart.dataset, {
    behaviour: "chart",
    chart: key,
    figureUrl: `${page.list.dataset.seriesUrl}?${query}`,
    live: page.list.dataset.live,
  })
  const caption = made("figcaption", "chart__title")
  caption.title = title
  caption.append(made("bdi", "", title))
  const plot = made("div", "chart__plot")
  plot.setAttribute("role", "group")
  plot.setAttribute("aria-label", gettext("Chart of %(title)s", { title }))
  chart.append(caption, plot)
  import("./chart.js").then((behaviour) => behaviour.default(chart))
  return chart
}

// Gives a chart the size it was given, or the usual one.
function fit(chart) {
  const { columns, height } = chart.dataset
  chart.style.setProperty("grid-column", columns > 1 ? `span ${Math.min(columns, columnsOf(chart))}` : "")
  height ? chart.style.setProperty("--chart-height", `${height}px`) : chart.style.removeProperty("--chart-height")
}

function columnsOf(chart) {
  return getComputedStyle(chart.parentElement).gridTemplateColumns.split(" ").length
}

function resizeBy(handle, chart, done) {
  const plot = chart.querySelector(".chart__plot")
  const set = (columns, height) => {
    chart.dataset.columns = Math.max(1, Math.min(columns, columnsOf(chart)))
    chart.dataset.height = Math.max(LEAST_PIXELS, Math.min(MOST_PIXELS, Math.round(height / STEP_PIXELS) * STEP_PIXELS))
    fit(chart)
  }
  const now = () => [Number(chart.dataset.columns), Number(chart.dataset.height)]

  handle.addEventListener("pointerdown", (start) => {
    start.preventDefault()
    handle.setPointerCapture(start.pointerId)
    const height = plot.clientHeight
    const width = chart.clientWidth
    const column = width / (Number(chart.dataset.columns) || 1)
    follow(start, {
      move: ({ clientX, clientY }) =>
        set(Math.round((width + clientX - start.clientX) / column), height + clientY - start.clientY),
      end: () => chart.dataset.height && done(now()),
    })
  })
  handle.addEventListener("keydown", (event) => {
    const by = KEYS[event.key]
    if (!by) return
    event.preventDefault()
    set((Number(chart.dataset.columns) || 1) + by[0], plot.clientHeight + by[1] * STEP_PIXELS)
    done(now())
  })
}

