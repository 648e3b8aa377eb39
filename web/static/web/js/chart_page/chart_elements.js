// Creates chart elements like templates/components/chart_list.html.

import { connect } from "../core/connect.js"
import { createElement } from "../core/elements.js"
import { gettext, ngettext } from "../core/texts.js"

// Returns the chart of these paths, with its arrangement applied.
export function newChart(page, key) {
  const paths = JSON.parse(key)
  const title = paths.join(", ")
  return figure(page, key, {
    title,
    name: paths.length === 1 ? title : key,
    label: gettext("Chart of %(title)s", { title }),
  })
}

// Returns the charts of a split series, one per group of runs, below its name.
export function newDivision(page, path) {
  const parts = JSON.parse(page.data.parts)
  const division = createElement("div")
  division.dataset.part = "divided"
  const heading = createElement("h2", "compare-divided__path mono wrap")
  heading.append(createElement("bdi", "", path))
  const grid = createElement("div", "grid charts__grid")
  grid.append(...parts.map(([label, runs], place) => part(page, path, { label, runs, place })))
  division.append(heading, grid)
  return division
}

function part(page, path, { label, runs, place }) {
  const name = `${path}, ${label}`
  const values = { path, divided_by: page.data.partsOf, value: label }
  const chart = figure(page, JSON.stringify([path]), {
    title: label,
    name,
    label: gettext("Chart of %(path)s, %(divided_by)s %(value)s", values),
    query: [["part", place]],
  })
  Object.assign(chart.dataset, { title: name, division: place })
  const count = ngettext("%(count)s run", "%(count)s runs", runs)
  chart.querySelector(".chart__title").append(createElement("span", "muted", ` · ${count}`))
  return chart
}

function figure(page, key, { title, name, label, query = [] }) {
  const paths = JSON.parse(key)
  const isMap = paths.length === 1 && JSON.parse(page.data.maps ?? "[]").includes(paths[0])
  const address = new URLSearchParams([...paths.map((path) => ["path", path]), ...query])
  const chart = createElement("figure", "card chart")
  Object.assign(chart.dataset, {
    behaviour: "chart",
    chart: key,
    figureUrl: `${isMap ? page.data.mapUrl : page.data.seriesUrl}?${address}`,
    live: page.data.live,
  })
  if (isMap) chart.dataset.map = ""
  // Lists of multi-run charts are synced by this key.
  if (page.data.runs) chart.dataset.key = name
  if (paths.length === 1) chart.dataset.path = paths[0]
  arrange(page.arrangement, chart, key)
  const caption = createElement("figcaption", "chart__title")
  caption.title = title
  caption.append(createElement("bdi", "", title))
  const plot = createElement("div", "chart__plot")
  plot.setAttribute("role", "group")
  plot.setAttribute("aria-label", label)
  chart.append(caption, plot)
  connect(chart)
  return chart
}

function arrange(arrangement, chart, key) {
  const size = arrangement.sizes.get(key)
  if (size) [chart.dataset.columns, chart.dataset.height] = size
  if (arrangement.log.has(key)) chart.dataset.own = "log"
}
