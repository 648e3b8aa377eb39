// Draws a figure built by the server: fetches it when it nears the viewport, shows a placeholder
// until Plotly has drawn, loads more detail on zoom, and polls while the run is live.
//
// data-figure-url   endpoint of the figure; JSON: data, layout, notes, live
// data-chart        paths of the lines, as JSON. With data-batch-url on an ancestor the chart
//                   is requested in a batch; data-batch-each is the parameter name, data-runs
//                   the number of runs per path
// data-division     index among the charts that a series is split into
// data-lasted       on an ancestor: elapsed seconds of the run when the page was rendered
// data-live         "true": poll for new points until the server sends live: false
// The data-chart-query of an ancestor is added to the URL. Events: "chart-zoom" bubbles on zoom,
// and preventDefault() hands the zoom to the listener; "chart-drawn" and "chart-asked" (detail:
// the error or null) bubble as well. "chart-refresh" on the element fetches again.

import { onThemeChange, themed } from "./colours.js"
import { allAnswered, drawSoon, nextPaint, nextTurn, unwatch, watch } from "./draw_queue.js"
import { requestBatched } from "./figure_batch.js"
import { readFigure } from "./figure_columns.js"
import "../export/chart_printing.js"
import { Hover } from "./hover.js"
import { withLegend } from "./legend.js"
import { unregisterRuns, registerRuns } from "../chart_page/run_highlight.js"
import { GROWN, LEFT, endsOf, freeOf, grow, withRoom } from "./live_lines.js"
import { titleOf } from "../chart_page/chart_names.js"
import { CONFIG, expectPlotly, loadPlotly } from "./plotly.js"
import { describe } from "./summary.js"
import { errorOf } from "./refusal.js"
import { RowsHover } from "./rows_hover.js"
import { settleBefore, settleLater, settled } from "./idle_redraw.js"
import { sketched } from "./sketch.js"
import { fitTicks, isTime, isTimeDown, withTimeAxis, withTimeDown } from "./time_axis.js"
import { gettext } from "../core/texts.js"

const REFRESH_MS = 5_000
// Errors are JSON; figures are binary columns if the server supports them.
const ACCEPT = "application/json, application/vnd.seamark.figure"
// Below this width the server puts legends under titles instead of next to them.
const NARROW_PIXELS = 560

const all = new Set()

class Chart {
  isNear = false
  isDrawn = false
  // Lines have been extended without Plotly.
  isAhead = false
  // Whether the preloaded figure may be used.
  mayUsePreload = true
  figure = null
  previous = undefined
  since = ""
  version = ""
  etag = null
  address = null
  sketch = null
  room = null
  zoom = null
  // The y-axis given to Plotly, and the one that was current when the user zoomed.
  height = null
  heightBefore = null
  resets = 0
  // The initial end of the lines at this URL, and its timestamp.
  began = null
  // Free share of the x-axis at the last Plotly draw, and its timestamp.
  drawn = { free: NaN, at: 0 }
  request = null
  hover = null

  constructor(element) {
    this.element = element
    this.plot = element.querySelector(".chart__plot") ?? appended(element, "chart__plot")
    this.notes = appended(element, "chart__notes")
    this.notes.hidden = true
    element.addEventListener("chart-refresh", () => this.refresh())
    element.addEventListener("pointerenter", () => this.settle())
    new ResizeObserver((entries) => this.resized(entries.at(-1).contentRect)).observe(this.plot)
  }

  get isBatched() {
    const { chart, map } = this.element.dataset
    // Histogram maps have no lines to batch.
    return chart !== undefined && map === undefined && this.batch !== undefined
  }

  get batch() {
    return this.element.closest("[data-batch-url]")?.dataset
  }

  // The page adds its own buttons and menu in place of Plotly's.
  get hasTools() {
    const page = '[data-behaviour="chart-list"], [data-behaviour~="compared-charts"], [data-behaviour~="chart-page"]'
    return this.element.closest(page) !== null && titleOf(this.element) !== ""
  }

  // The title already names the only line.
  get isOfOneRun() {
    return this.element.closest('[data-behaviour="chart-list"]') !== null
  }

  get isLive() {
    return this.element.dataset.live === "true"
  }

  // Called by the queue, which starts the next chart when `answered` is called.
  async draw(answered) {
    try {
      expectPlotly()
      const answer = await this.fetch().finally(answered)
      this.dispatch("chart-asked", null)
      if (answer && this.isDrawn && answer.isSame) await this.grow()
      else if (answer || !this.isDrawn) await this.repaint()
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error)
    }
  }

  refresh() {
    this.mayUsePreload = false
    if (this.isNear) drawSoon(this.element)
    else this.forget()
  }

  // Returns the response, or null if nothing has changed.
  async fetch() {
    const address = this.currentAddress()
    this.request?.abort()
    this.request = new AbortController()
    const isSame = this.figure !== null && address === this.address
    const buffer = this.isBatched
      ? await this.fetchBatched(isSame)
      : await this.fetchAlone(address, isSame)
    if (buffer === null) return null

    const answer = readFigure(buffer, isSame ? this.previous : undefined)
    const { figure, arrays, plain, since, version } = answer
    Object.assign(this, { figure, previous: { arrays, plain }, since, version, address })
    if (!isSame) this.began = { end: endsOf(figure)[1], at: performance.now() }
    if (figure.live === false) this.element.dataset.live = "false"
    return answer
  }

  async fetchAlone(address, isSame) {
    const url = new URL(address)
    url.searchParams.set("since", isSame ? this.since : "")
    const response = await fetch(url, {
      headers: { Accept: ACCEPT, ...(isSame && this.etag && { "If-None-Match": this.etag }) },
      signal: this.request.signal,
    })
    if (response.status === 304) return null
    if (!response.ok) throw await errorOf(response)
    const buffer = await response.arrayBuffer()
    this.etag = response.headers.get("ETag")
    return buffer
  }

  fetchBatched(isSame) {
    const { chart: paths, division, own } = this.element.dataset
    const chart = new URLSearchParams(JSON.parse(paths).map((path) => ["path", path]))
    const { batchUrl, batchEach, runs = 1 } = this.batch
    const lines = chart.size * Number(runs)
    if (division) chart.set("part", division)
    if (own) chart.set("own", own)
    if (isSame) chart.set("since", this.since)
    return requestBatched(batchUrl, {
      query: this.sharedQuery(),
      chart,
      each: batchEach,
      lines,
      version: isSame ? this.version : "",
      mayBeFirst: this.mayUsePreload && !isSame,
      signal: this.request.signal,
    })
  }

  // Growth of the x-axis per millisecond, as a share: observed, or else the average since the run
  // started; 0 if unknown.
  get pace() {
    const [low, high] = endsOf(this.figure)
    const now = performance.now()
    const { lasted } = this.element.closest("[data-lasted]")?.dataset ?? {}
    const paces = [
      (high - this.began.end) / Math.max(1, now - this.began.at),
      (high - low) / (lasted * 1_000 + now),
    ]
    return Math.max(0, ...paces.filter(Number.isFinite))
  }

  currentAddress() {
    const url = new URL(this.element.dataset.figureUrl, document.baseURI)
    const isOwnHeight = this.element.matches(".chart--own-height")
    if (isOwnHeight && this.element.clientWidth < NARROW_PIXELS) url.searchParams.set("narrow", "1")
    if (this.element.dataset.own) url.searchParams.set("own", this.element.dataset.own)
    for (const [name, value] of this.sharedQuery()) url.searchParams.set(name, value)
    for (const [name, value] of Object.entries(this.zoom ?? {})) url.searchParams.set(name, value)
    return url.href
  }

  sharedQuery() {
    return new URLSearchParams(this.element.closest("[data-chart-query]")?.dataset.chartQuery ?? "")
  }

  async paint(plotly) {
    const coloured = themed(this.figure)
    const { data, layout } = isTimeDown(this.figure) ? withTimeDown(coloured, this.plot.clientHeight) : coloured
    this.keepView(layout)
    if (this.isLive) withRoom(layout, this.figure, this.pace)
    // Clears the error message that replaced the chart.
    this.element.classList.remove("chart--failed")
    const named = this.element.matches(".chart--full") ? withLegend(this.figure, data, layout) : layout
    const drawn = isTime(this.figure) ? withTimeAxis({ data, layout: named }, this.plot.clientWidth) : named
    await plotly.react(this.plot, data, drawn, { ...CONFIG, displayModeBar: !this.hasTools && "hover" })
    this.wipe()
    this.isAhead = false
    this.drawn = { free: freeOf(this.plot, this.figure), at: performance.now() }
    settled(this)
    if (!this.isDrawn) {
      this.isDrawn = true
      this.plot.on("plotly_relayout", (change) => this.zoomed(change))
      // A line was toggled in the legend.
      this.plot.on("plotly_restyle", () => this.hover?.refresh())
    }
    if (this.figure.lines || this.figure.rows) {
      this.hover ??= this.figure.rows ? new RowsHover(this) : new Hover(this)
      this.hover.refresh()
    }
    registerRuns(this.plot, this.figure)
    this.size = sizeOf(this.plot)
    this.element.dataset.drawn = "true"
    describe(this.element, this.plot, data, layout)
    this.showNotes(this.figure.notes ?? [])
    this.dispatch("chart-drawn")
  }

  async repaint() {
    if (!this.isDrawn && this.draft()) {
      await allAnswered()
      await nextPaint()
    }
    const plotly = await loadPlotly()
    await nextTurn(this.element)
    if (this.element.isConnected) await this.paint(plotly)
  }

  // Shows a placeholder until Plotly draws; returns whether it is possible.
  draft() {
    this.wipe()
    this.sketch = sketched(this.figure, this.room ?? this.plot.getBoundingClientRect(), this.isLive ? this.pace : null)
    if (!this.sketch) return false
    this.element.classList.remove("chart--failed")
    this.plot.prepend(this.sketch)
    this.element.dataset.sketched = "true"
    return true
  }

  wipe() {
    this.sketch?.remove()
    this.sketch = null
    delete this.element.dataset.sketched
  }

  // Extends the existing lines, at about 5 % of the cost of a redraw.
  async grow() {
    const outcome = grow(this.plot, this.figure)
    if (outcome !== GROWN && outcome !== LEFT) return this.repaint()
    this.isAhead = true
    this.hover?.refresh()
    this.showNotes(this.figure.notes ?? [])
    if (outcome === LEFT) settleLater(this)
    else this.settleInTime()
  }

  // Schedules a redraw when half of the free axis range is used.
  settleInTime() {
    const { free, at } = this.drawn
    const now = performance.now()
    const left = freeOf(this.plot, this.figure)
    if (free > 0 && left < free / 2) settleBefore(this, now + (left * (now - at)) / (free - left))
  }

  // Syncs Plotly with the extended lines.
  async settle() {
    if (this.isDrawn && this.isAhead) await this.repaint()
  }

  resized(room) {
    this.room = room
    if (this.sketch) this.draft()
    const size = sizeOf(this.plot)
    // Plotly cannot draw into hidden or detached elements.
    if (!this.isDrawn || size === this.size || !this.plot.offsetParent) return
    this.size = size
    window.Plotly.Plots.resize(this.plot)
      .then(() => this.placeLegend())
      .then(() => this.fitTicks())
      .then(() => this.hover?.refresh())
  }

  // Plotly 4.1.1 does not move a legend that needs fewer rows at the new width.
  placeLegend() {
    // A chart scrolled far away has no layout.
    if (!this.isDrawn) return null
    const { showlegend, legend } = this.plot.layout
    return showlegend ? window.Plotly.relayout(this.plot, { "legend.y": legend?.y ?? 1 }) : null
  }

  fitTicks() {
    return this.isDrawn && isTime(this.figure) ? fitTicks(window.Plotly, this.plot) : null
  }

  // Keeps the user's zoom and legend choices when points arrive. Both reset when an axis type
  // changes; the vertical zoom also when outlier clipping toggles, the horizontal zoom also when its
  // range changes.
  keepView(layout) {
    const { xaxis, yaxis } = layout
    layout.uirevision = `${xaxis?.type} ${yaxis?.type}`
    if (xaxis) xaxis.uirevision = JSON.stringify(xaxis.range ?? null)
    if (!yaxis) return
    yaxis.uirevision = `${layout.uirevision} ${this.sharedQuery().get("clip")} ${this.resets}`
    // Plotly keeps the user's range only if the default is unchanged.
    if (this.heightBefore?.revision === yaxis.uirevision) yaxis.range = this.heightBefore.range?.slice()
    else this.heightBefore = null
    this.height = { revision: yaxis.uirevision, range: yaxis.range?.slice() }
  }

  // Resetting the axes also restores outlier clipping.
  chosen(change) {
    if (change["yaxis.autorange"] !== true) {
      if (Object.keys(change).some((key) => key.startsWith("yaxis.range"))) this.heightBefore = this.height
      return
    }
    this.heightBefore = null
    if (!this.height?.range) return
    this.resets += 1
    this.repaint()
  }

  zoomed(change) {
    this.chosen(change)
    const range = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]]
    const isReset = change["xaxis.autorange"] === true
    if (range[0] === undefined && !isReset) return

    this.fitTicks()
    const isLog = this.figure.layout.xaxis?.type === "log"
    const [low, high] = isReset ? [] : range.map((end) => (isLog ? 10 ** end : end))
    const zoom = isReset ? null : { low, high }
    if (!this.dispatch("chart-zoom", zoom)) return
    this.zoom = zoom
    drawSoon(this.element)
  }

  forget() {
    this.wipe()
    if (!this.isDrawn) return
    window.Plotly.purge(this.plot)
    settled(this)
    unregisterRuns(this.plot)
    this.isDrawn = false
    this.hover?.forget()
    delete this.element.dataset.drawn
  }

  // A drawn chart stays visible; the page reports the connection error elsewhere.
  fail(error) {
    this.dispatch("chart-asked", error)
    if (this.isDrawn && !error.isRefusal) return
    this.element.classList.add("chart--failed")
    this.showNotes([gettext("This chart could not be loaded: %(why)s", { why: error.message })])
  }

  showNotes(notes) {
    if (this.shownNotes === notes.join("\n")) return
    this.shownNotes = notes.join("\n")
    this.notes.replaceChildren(...notes.map((note) => paragraph(note)))
    this.notes.hidden = notes.length === 0
  }

  dispatch(name, detail) {
    return this.element.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail }))
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

const sizeOf = (element) => `${element.clientWidth} × ${element.clientHeight}`

function forgetRemoved() {
  for (const chart of all) {
    if (chart.element.isConnected) continue
    chart.request?.abort()
    chart.forget()
    unwatch(chart.element)
    all.delete(chart)
  }
}

function refreshAll() {
  forgetRemoved()
  if (document.hidden) return
  for (const chart of all) {
    if (chart.isLive && chart.isNear) drawSoon(chart.element)
  }
}

setInterval(refreshAll, REFRESH_MS)
// Updates at once when the tab becomes visible.
document.addEventListener("visibilitychange", refreshAll)

onThemeChange(() => all.forEach((chart) => chart.isDrawn && chart.repaint()))

export default function start(element) {
  const chart = new Chart(element)
  all.add(chart)
  watch(element, chart)
}
