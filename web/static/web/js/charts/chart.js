// Draws the figure the server built: fetches it when it comes near the window, asks for
// finer points on zoom, and keeps it fresh while what it shows is alive.
//
// data-figure-url   where the figure is; its JSON: data, layout, notes, live
// data-live         "true": ask again every few seconds, for what is new, until the server
//                   says live: false
// An ancestor's data-chart-query is added to the address. The chart tells its ancestors
// of a zoom by "chart-zoom"; who prevents its default takes the zoom over.
// "chart-refresh", sent to the element, fetches again; "chart-unzoom" undoes its zoom.

import { onThemeChange, themed } from "./colours.js"
import { drawSoon, unwatch, watch } from "./draw_queue.js"
import { readFigure } from "./figure_columns.js"
import { CONFIG, loadPlotly } from "./plotly.js"
import { describe } from "./summary.js"

const REFRESH_MS = 5_000
// Refusals are JSON; figures come as columns where the server can.
const ACCEPT = "application/json, application/vnd.seamark.figure"
// Below this the server puts legends under titles instead of beside them.
const NARROW_PIXELS = 560

const all = new Set()

class Chart {
  isNear = false
  isDrawn = false
  figure = null
  arrays = []
  since = ""
  etag = null
  address = null
  zoom = null
  request = null

  constructor(element) {
    this.element = element
    this.plot = element.querySelector(".chart__plot") ?? appended(element, "chart__plot")
    this.notes = appended(element, "chart__notes")
    this.notes.hidden = true
    element.addEventListener("chart-refresh", () => this.refresh())
    element.addEventListener("chart-unzoom", () => this.unzoom())
  }

  // Called by the queue, and so never twice at once for what is visible.
  async draw() {
    try {
      const [plotly, isNew] = await Promise.all([loadPlotly(), this.fetch()])
      if (isNew || !this.isDrawn) await this.paint(plotly)
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error)
    }
  }

  refresh() {
    if (this.isNear) drawSoon(this.element)
    else this.forget()
  }

  async fetch() {
    const address = this.currentAddress()
    this.request?.abort()
    this.request = new AbortController()
    const isSame = this.figure !== null && address === this.address
    const asked = new URL(address)
    asked.searchParams.set("since", isSame ? this.since : "")
    const response = await fetch(asked, {
      headers: { Accept: ACCEPT, ...(isSame && this.etag && { "If-None-Match": this.etag }) },
      signal: this.request.signal,
    })
    if (response.status === 304) return false
    if (!response.ok) throw new Error(await refusal(response))

    const answer = readFigure(await response.arrayBuffer(), isSame ? this.arrays : [])
    Object.assign(this, answer, { address, etag: response.headers.get("ETag") })
    if (this.figure.live === false) this.element.dataset.live = "false"
    return true
  }

  currentAddress() {
    const url = new URL(this.element.dataset.figureUrl, document.baseURI)
    const isNarrow = this.element.clientWidth < NARROW_PIXELS
    if (isNarrow && this.element.matches(".chart--own-height")) url.searchParams.set("narrow", "1")
    const shared = this.element.closest("[data-chart-query]")?.dataset.chartQuery ?? ""
    for (const [name, value] of new URLSearchParams(shared)) url.searchParams.set(name, value)
    for (const [name, value] of Object.entries(this.zoom ?? {})) url.searchParams.set(name, value)
    return url.href
  }

  async paint(plotly) {
    const { data, layout } = themed(this.figure)
    keepView(layout)
    // A chart says what went wrong in place of its drawing; the drawing comes back.
    this.element.classList.remove("chart--failed")
    await plotly.react(this.plot, data, layout, CONFIG)
    if (!this.isDrawn) {
      this.isDrawn = true
      this.plot.on("plotly_relayout", (change) => this.zoomed(change))
    }
    this.element.dataset.drawn = "true"
    describe(this.element, this.plot, data, layout)
    this.showNotes(this.figure.notes ?? [])
  }

  async repaint() {
    if (this.isDrawn) await this.paint(await loadPlotly())
  }

  zoomed(change) {
    const range = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]]
    const isReset = change["xaxis.autorange"] === true
    if (range[0] === undefined && !isReset) return

    const zoom = isReset ? null : { low: asNumber(range[0]), high: asNumber(range[1]) }
    const taken = !this.element.dispatchEvent(
      new CustomEvent("chart-zoom", { bubbles: true, cancelable: true, detail: zoom }),
    )
    if (taken) return
    this.zoom = zoom
    drawSoon(this.element)
  }

  unzoom() {
    if (!this.zoom) return
    this.zoom = null
    this.refresh()
  }

  forget() {
    if (!this.isDrawn) return
    window.Plotly.purge(this.plot)
    this.isDrawn = false
    delete this.element.dataset.drawn
  }

  fail(error) {
    this.element.classList.add("chart--failed")
    this.showNotes([`This chart could not be loaded: ${error.message}`])
  }

  showNotes(notes) {
    this.notes.replaceChildren(...notes.map((note) => paragraph(note)))
    this.notes.hidden = notes.length === 0
  }
}

function appended(parent, className) {
  const child = document.createElement("div")
  child.className = className
  parent.append(child)
  return child
}

function paragraph(text) {
  const element = document.createElement("p")
  element.textContent = text
  return element
}

async function refusal(response) {
  try {
    return (await response.json()).error.message
  } catch {
    return `the server answered ${response.status}`
  }
}

// Plotly gives the ends of a time axis as text in UTC.
function asNumber(end) {
  return typeof end === "string" ? Date.parse(`${end.replace(" ", "T")}Z`) : end
}

// New points must not move what the reader has zoomed to. The vertical zoom lasts until
// the axis changes its kind, the horizontal one until the range asked for changes.
function keepView(layout) {
  layout.uirevision = `${layout.xaxis?.type} ${layout.yaxis?.type}`
  if (layout.xaxis) layout.xaxis.uirevision = JSON.stringify(layout.xaxis.range ?? null)
}

function forgetRemoved() {
  for (const chart of all) {
    if (chart.element.isConnected) continue
    chart.request?.abort()
    chart.forget()
    unwatch(chart.element)
    all.delete(chart)
  }
}

setInterval(() => {
  forgetRemoved()
  if (document.hidden) return
  for (const chart of all) {
    if (chart.element.dataset.live === "true" && chart.isNear) drawSoon(chart.element)
  }
}, REFRESH_MS)

onThemeChange(() => all.forEach((chart) => chart.repaint()))

export default function start(element) {
  const chart = new Chart(element)
  all.add(chart)
  watch(element, chart)
}
