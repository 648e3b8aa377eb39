// Menu entries of charts that can be arranged.

import { tools } from "./chart_tools.js"
import { chartOf } from "../charts/draw_queue.js"
import { gettext } from "../core/texts.js"
import { addToDashboard } from "./panel_dashboard.js"

const ARRANGING = ["log", "join", "split", "annotate", "dashboard", "usual-size", "csv"]

export function menu(page, { choose, shelf, write }) {
  const panel = page.part("chart-menu")
  const actions = {
    pin(chart, button) {
      full.close()
      const isPinned = !page.arrangement.isPinned(chart.dataset.chart)
      shelf.pin(chart, isPinned)
      reflect(page, chart)
      button.focus()
    },
    annotations: (chart, button) => write.list(chart, chartOf(chart).figure.marks, button),
    log: (chart) => shelf.setLog(chart, chart.dataset.own !== "log"),
    split(chart) {
      full.close()
      shelf.split(chart)
    },
    "usual-size": (chart) => shelf.usualSize(chart),
    dashboard: (chart, button) => addToDashboard(page, chart, button.dataset.address),
    annotate: (chart) => write.add(chart, chartOf(chart).hover?.lastMarked() ?? {}),
    async join(chart) {
      await join(chart ? JSON.parse(chart.dataset.chart) : [])
    },
  }

  async function join(paths) {
    const chosen = await choose({
      title: gettext("Combine series in one chart"),
      hint: gettext("You can also drag a chart by its title onto another chart."),
      chosen: paths,
    })
    if (chosen.length < 2) return
    full.close()
    shelf.join(chosen)
  }

  page.part("join").addEventListener("click", () => join([]))
  const full = tools(page, {
    actions,
    onAdded(chart) {
      if (!isArranged(chart)) return
      shelf.addHandle(chart)
      if (!("map" in chart.dataset)) chart.querySelector(".chart__title").draggable = true
    },
    onDrawn: (chart) => reflect(page, chart),
    onOpened: (chart) => fill(panel, chart, write),
  })
  dragging(page, shelf)
}

// Charts in panels cannot be arranged.
const isArranged = (chart) => chart.dataset.chart !== undefined

function reflect(page, chart) {
  if (!isArranged(chart)) return void (chart.querySelector('[data-do="pin"]').hidden = true)
  const pin = chart.querySelector('[data-do="pin"]')
  const isPinned = page.arrangement.isPinned(chart.dataset.chart)
  pin.setAttribute("aria-pressed", isPinned)
  pin.title = isPinned ? gettext("Unpin from top") : gettext("Pin to top")
  pin.setAttribute("aria-label", pin.title)
  const written = chart.querySelector('[data-do="annotations"]')
  const count = chartOf(chart)?.figure?.marks?.length ?? 0
  written.hidden = count === 0
  written.querySelector('[data-part="written-count"]').textContent = count
}

// Updates the menu for this chart and links to its data.
function fill(panel, chart, write) {
  const item = (name) => panel.querySelector(`[data-do="${name}"]`)
  for (const name of ARRANGING) if (item(name)) item(name).hidden = !isArranged(chart)
  if (!isArranged(chart)) return
  const paths = JSON.parse(chart.dataset.chart)
  const isMap = "map" in chart.dataset
  for (const name of ["log", "join", "annotate", "dashboard", "points", "csv"]) if (item(name)) item(name).hidden = isMap
  if (item("annotate")) item("annotate").hidden ||= !write.isPossible(chart)
  // Points cannot be requested by group.
  if ("division" in chart.dataset && item("csv")) item("csv").hidden = true
  item("log").setAttribute("aria-checked", chart.dataset.own === "log")
  item("split").hidden = paths.length < 2
  item("usual-size").hidden = !chart.dataset.height

  if (item("csv")) linkToPoints(item("csv"), chart, paths)
}

// Links to the full data of these lines for each run of the chart.
function linkToPoints(link, chart, paths) {
  const parameters = new URLSearchParams(chart.closest("[data-chart-query]").dataset.chartQuery)
  const address = new URL(link.dataset.pointsUrl, document.baseURI)
  for (const run of parameters.get("runs")?.split(",") ?? []) address.searchParams.append("run", run)
  for (const path of paths) address.searchParams.append("path", path)
  // Points have steps and times only, no position on a series axis.
  const placed = parameters.get("over") ? [] : ["axis", "low", "high"].filter((name) => parameters.has(name))
  for (const name of placed) address.searchParams.set(name, parameters.get(name))
  link.href = address
}

// Dropping a chart's title on another chart combines both into a new one.
function dragging(page, shelf) {
  const charts = (event) => event.target.closest?.('[data-behaviour="chart"][data-chart]:not([data-map])')
  let dragged = null

  page.list.addEventListener("dragstart", (event) => {
    dragged = charts(event)
    event.dataTransfer.effectAllowed = "link"
    event.dataTransfer.setData("text/plain", dragged?.dataset.chart ?? "")
  })
  page.list.addEventListener("dragover", (event) => {
    const chart = charts(event)
    if (!dragged || !chart || chart === dragged) return
    event.preventDefault()
    mark(chart)
  })
  page.list.addEventListener("drop", (event) => {
    const chart = charts(event)
    if (!dragged || !chart || chart === dragged) return
    event.preventDefault()
    shelf.join([...JSON.parse(chart.dataset.chart), ...JSON.parse(dragged.dataset.chart)])
  })
  page.list.addEventListener("dragend", () => {
    dragged = null
    mark(null)
  })

  function mark(chart) {
    for (const other of page.list.querySelectorAll(".chart--target")) other.classList.remove("chart--target")
    chart?.classList.add("chart--target")
  }
}
