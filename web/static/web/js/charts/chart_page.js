// Charts that are not a run's own: what can be done with each of them, and which one fills
// the window, as the page's address says.

import { keepInAddress } from "../models/address.js"
import { tools } from "./chart_tools.js"

class Page {
  constructor(list) {
    this.list = list
  }

  part(name) {
    return this.list.querySelector(`[data-part="chart-${name}"]`)
  }

  charts() {
    return this.list.querySelectorAll('[data-behaviour="chart"]')
  }

  get options() {
    return new URL(location.href).searchParams
  }

  set(changes) {
    keepInAddress(changes)
  }
}

export default function chartPage(list) {
  const page = new Page(list)
  // A widget's chart is there once its widget is near.
  const wanted = page.options.get("full")
  const widget = wanted && list.querySelector(`[data-part="widget"][id*="${CSS.escape(wanted)}"]`)
  widget?.scrollIntoView()
  tools(page, { onOpened: (chart) => fill(page, chart) })
}

// Where all points of all runs of a chart are, not only those drawn.
function fill(page, chart) {
  const link = page.part("menu").querySelector('[data-do="csv"]')
  if (!link) return
  const { path } = chart.dataset
  link.hidden = !path
  if (!path) return
  const asked = new URLSearchParams(chart.closest("[data-chart-query]").dataset.chartQuery)
  const address = new URL(link.dataset.pointsUrl, document.baseURI)
  for (const run of asked.get("runs").split(",")) address.searchParams.append("run", run)
  address.searchParams.set("path", path)
  address.searchParams.set("axis", asked.get("axis") ?? "step")
  link.href = address
}
