// Arranges the charts of a page: pinned charts first, then combined ones, collapsible sections,
// custom sizes.

import { MAX_LINES } from "./arrangement.js"
import { trackPointer } from "../core/drag.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"
import { newChart } from "./chart_elements.js"
import { addsRest, foundRest } from "./more_charts.js"

const MEASURED = "monitoring/"
// Suffix of sections of numbered modules, such as layers.*
const ANY_NUMBER = "*"
const MIN_PIXELS = 120
const MAX_PIXELS = 2_000
const STEP_PIXELS = 20
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

export function cards(page) {
  // Not "toggle", which also fires for changes by scripts.
  page.list.addEventListener("click", ({ target }) => {
    const section = target.closest('[data-part="section"] > summary')?.parentElement
    if (!section) return
    const name = section.dataset.section
    const isOpenByItself = "chosen" in section.dataset || !(name.startsWith(MEASURED) || name.endsWith(ANY_NUMBER))
    page.arrangement.fold(name, !section.open, isOpenByItself)
    page.arranged()
  })
  const sizes = page.list.querySelectorAll("button[data-size]")
  for (const button of sizes) {
    button.addEventListener("click", () => {
      page.arrangement.size = button.dataset.size
      look()
      page.arranged()
    })
  }
  const rest = addsRest(page, (charts) => charts.forEach(fit))
  page.make = rest.make
  const fitAll = () => page.charts().forEach(fit)
  window.addEventListener("resize", fitAll)

  function look() {
    const { size } = page.arrangement
    page.data.size = size
    for (const button of sizes) button.setAttribute("aria-pressed", button.dataset.size === size)
    fitAll()
    rest.look()
  }

  look()
  return {
    // Called after charts were added or resized.
    look,

    pin(chart, isPinned) {
      page.arrangement.pin(chart.dataset.chart, isPinned)
      place(page, chart)
      page.arranged()
    },

    // Shows the chart of these lines, adding it if necessary.
    async join(paths) {
      const key = page.arrangement.join(paths)
      if (key === null) return toast(gettext("A chart can have at most %(count)s series.", { count: MAX_LINES }), { isError: true })
      const [found] = chartsOf(page, key)
      page.arranged()
      if (!found && isDivided(page)) return page.reload()
      const chart = found ?? newChart(page, key)
      place(page, chart)
      chart.scrollIntoView({ block: "center" })
    },

    split(chart) {
      page.arrangement.split(chart.dataset.chart)
      const section = chart.closest('[data-part="section"]')
      elementToMove(chart).remove()
      tidy(page, section)
      page.arranged()
    },

    setLog(chart, isLog) {
      page.arrangement.setLog(chart.dataset.chart, isLog)
      for (const each of chartsOf(page, chart.dataset.chart)) {
        isLog ? (each.dataset.own = "log") : delete each.dataset.own
        each.dispatchEvent(new CustomEvent("chart-refresh"))
      }
      page.arranged()
    },

    usualSize(chart) {
      page.arrangement.resize(chart.dataset.chart, null)
      for (const each of chartsOf(page, chart.dataset.chart)) {
        delete each.dataset.columns
        delete each.dataset.height
        fit(each)
      }
      page.arranged()
    },

    addHandle(chart) {
      const handle = page.part("chart-handle").content.firstElementChild.cloneNode(true)
      chart.append(handle)
      resizeBy(handle, chart, ([columns, height]) => {
        page.arrangement.resize(chart.dataset.chart, [columns, height])
        for (const each of chartsOf(page, chart.dataset.chart)) {
          Object.assign(each.dataset, { columns, height })
          fit(each)
        }
        page.arranged()
      })
    },
  }
}

function sections(page) {
  return page.list.querySelectorAll('[data-part="section"]')
}

// With split series, several charts have the same lines.
function chartsOf(page, key) {
  return [...page.charts()].filter((chart) => chart.dataset.chart === key)
}

function isDivided(page) {
  return page.part("divided") !== null
}

// The element to move: all parts of a split series.
function elementToMove(chart) {
  return chart.closest('[data-part="divided"]') ?? chart
}

// Moves a chart to the pinned, combined or namespace section.
function place(page, chart) {
  const key = chart.dataset.chart
  const paths = JSON.parse(key)
  const from = chart.closest('[data-part="section"]')
  const own = page.arrangement.isPinned(key) ? ["pinned"] : paths.length > 1 ? ["joined"] : [numberedOf(paths[0]), namespaceOf(paths[0])]
  const to = own.map((name) => [...sections(page)].find((section) => section.dataset.section === name)).find(Boolean)
  if (!to || from === to) return
  const moved = elementToMove(chart)
  if ("chosen" in to.dataset) room(to, moved).append(moved)
  else if (moved === chart) room(to, moved).prepend(moved)
  else to.querySelector("summary").after(moved)
  for (const section of new Set([from, to])) if (section) tidy(page, section)
  to.open = true
}

function room(section, moved) {
  return moved.matches('[data-part="divided"]') ? section : section.querySelector(".charts__grid")
}

// Updates the chart count of a section and hides empty sections.
export function tidy(page, section) {
  const charts = [...section.querySelectorAll('[data-behaviour="chart"]')].filter((chart) => !chart.hidden)
  const rest = foundRest(page, section).length
  const shown = new Set(charts.map((chart) => chart.dataset.chart)).size + rest
  section.hidden = shown === 0
  section.querySelector('[data-part="section-count"]').textContent = shown
  const isBeside = !("chosen" in section.dataset) && shown === charts.length + rest && !page.data.parts
  for (const few of [1, 2]) section.classList.toggle(`charts__section--${few}`, isBeside && shown === few)
  return shown
}

// Mirrors web/pages/charts/sections.py.
function namespaceOf(path) {
  const parts = path.split("/")
  const depth = path.startsWith(MEASURED) ? 2 : 1
  return parts.length > depth ? `${parts.slice(0, depth).join("/")}/` : ""
}

// Mirrors sections.py.
function numberedOf(path) {
  const [, prefix] = path.match(/^((?:.*?[./_-])??(?:layers?|blocks?|h|stages?|experts?|heads?)[./_-]?)\d+(?=[./_-]|$)/i) ?? []
  return prefix ? `${prefix}${ANY_NUMBER}` : null
}

// Applies the custom size of a chart, or the default.
function fit(chart) {
  const { columns, height } = chart.dataset
  // A stale span would force extra columns in a narrower window.
  chart.style.removeProperty("grid-column")
  if (columns > 1) chart.style.setProperty("grid-column", `span ${Math.min(columns, columnsOf(chart))}`)
  height ? chart.style.setProperty("--chart-height", `${height}px`) : chart.style.removeProperty("--chart-height")
}

function columnsOf(chart) {
  return getComputedStyle(chart.parentElement).gridTemplateColumns.split(" ").length
}

function resizeBy(handle, chart, done) {
  const plot = chart.querySelector(".chart__plot")
  const set = (columns, height) => {
    chart.dataset.columns = Math.max(1, Math.min(columns, columnsOf(chart)))
    chart.dataset.height = Math.max(MIN_PIXELS, Math.min(MAX_PIXELS, Math.round(height / STEP_PIXELS) * STEP_PIXELS))
    fit(chart)
  }
  const now = () => [Number(chart.dataset.columns), Number(chart.dataset.height)]

  handle.addEventListener("pointerdown", (start) => {
    start.preventDefault()
    handle.setPointerCapture(start.pointerId)
    const height = plot.clientHeight
    const width = chart.clientWidth
    const column = width / (Number(chart.dataset.columns) || 1)
    trackPointer(start, {
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
