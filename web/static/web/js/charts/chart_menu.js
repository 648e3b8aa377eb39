// What can be done with one chart: its buttons, added once it is drawn, and its menu.

import { walk } from "../models/menu.js"
import { chartOf } from "./draw_queue.js"
import { placeBeside } from "./floating.js"
import { fullScreen } from "./full_screen.js"
import { savePicture } from "./picture.js"
import { gettext } from "../texts.js"

export function menu(page, { choose, shelf, write }) {
  const panel = page.part("menu")
  const full = fullScreen(page)
  let current = null

  function equip(chart) {
    if (!chart.querySelector(".chart__tools")) addTools(page, shelf, chart)
    chart.querySelector('[data-do="full"]').setAttribute("aria-pressed", full.isShown(chart))
    reflect(page, chart)
  }

  page.list.addEventListener("chart-drawn", ({ target }) => equip(target))
  // With Plotly at hand, some are drawn before this module has come.
  page.list.querySelectorAll('.chart[data-drawn="true"]').forEach(equip)

  const actions = {
    pin(chart, button) {
      full.close()
      const isPinned = !page.arrangement.isPinned(chart.dataset.chart)
      shelf.pin(chart, isPinned)
      reflect(page, chart)
      button.focus()
    },
    full: (chart) => full.toggle(chart),
    annotations: (chart, button) => write.list(chart, chartOf(chart).figure.marks, button),
    menu(chart, button) {
      current = chart
      fill(page, panel, chart)
      panel.showPopover()
      placeBeside(panel, button)
      panel.querySelector("[data-do]:not([hidden])").focus()
    },
    log: (chart) => shelf.setLog(chart, chart.dataset.own !== "log"),
    split(chart) {
      full.close()
      shelf.split(chart)
    },
    "usual-size": (chart) => shelf.usualSize(chart),
    annotate: (chart) => write.add(chart, chartOf(chart).hover?.lastMarked() ?? {}),
    png: (chart) => savePicture(chartOf(chart), "png"),
    svg: (chart) => savePicture(chartOf(chart), "svg"),
    async join(chart) {
      await join(chart ? JSON.parse(chart.dataset.chart) : [])
    },
  }

  async function join(paths) {
    const chosen = await choose({
      title: gettext("Join series in one chart"),
      hint: gettext("Or drag the title of a chart onto another chart."),
      chosen: paths,
    })
    if (chosen.length < 2) return
    full.close()
    shelf.join(chosen)
  }

  page.part("join").addEventListener("click", () => join([]))
  page.list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]")
    const chart = event.target.closest('[data-behaviour="chart"]')
    if (!button || !chart || !actions[button.dataset.do]) return
    actions[button.dataset.do](chart, button)
  })
  panel.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]")
    if (!button) return
    panel.hidePopover()
    actions[button.dataset.do]?.(current, button)
  })
  panel.addEventListener("keydown", (event) => walk(event, [...panel.querySelectorAll("[data-do]:not([hidden])")]))
  dragging(page, shelf)
}

function addTools(page, shelf, chart) {
  const tools = page.part("tools").content.cloneNode(true)
  chart.querySelector(".chart__title").after(tools)
  shelf.addHandle(chart)
  const title = chart.querySelector(".chart__title")
  if (!("map" in chart.dataset)) title.draggable = true
}

function reflect(page, chart) {
  const pin = chart.querySelector('[data-do="pin"]')
  const isPinned = page.arrangement.isPinned(chart.dataset.chart)
  pin.setAttribute("aria-pressed", isPinned)
  pin.title = isPinned ? gettext("Take from the top") : gettext("Pin to the top")
  pin.setAttribute("aria-label", pin.title)
  const written = chart.querySelector('[data-do="annotations"]')
  const count = chartOf(chart)?.figure?.marks?.length ?? 0
  written.hidden = count === 0
  written.querySelector('[data-part="written-count"]').textContent = count
}

// Shows what this chart has, and where all its points are.
function fill(page, panel, chart) {
  const item = (name) => panel.querySelector(`[data-do="${name}"]`)
  const paths = JSON.parse(chart.dataset.chart)
  const isMap = "map" in chart.dataset
  for (const name of ["log", "join", "annotate", "csv"]) if (item(name)) item(name).hidden = isMap
  item("log").setAttribute("aria-checked", chart.dataset.own === "log")
  item("split").hidden = paths.length < 2
  item("usual-size").hidden = !chart.dataset.height

  if (!item("csv")) return
  const address = new URL(page.list.dataset.pointsUrl, document.baseURI)
  for (const path of paths) address.searchParams.append("path", path)
  const axis = page.options.get("axis") ?? "step"
  if (axis !== "series") {
    address.searchParams.set("axis", axis)
    for (const end of ["low", "high"]) {
      if (page.options.has(end)) address.searchParams.set(end, page.options.get(end))
    }
  }
  item("csv").href = address
}

// A chart's title that is dragged onto another chart joins the two in a new one.
function dragging(page, shelf) {
  const charts = (event) => event.target.closest?.('[data-behaviour="chart"]:not([data-map])')
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
