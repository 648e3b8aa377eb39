// Full-screen view of one chart. The chart is named in the URL.

import { chartOf } from "../charts/draw_queue.js"
import { keyOf, titleOf } from "./chart_names.js"

export function fullScreen(page) {
  let shown = null
  let covered = []
  let requested = page.options.get("full")
  // Closes when the chart is removed.
  const removed = new MutationObserver(() => shown && !shown.isConnected && close())

  function open(chart) {
    close()
    requested = null
    shown = chart
    chart.classList.add("chart--full")
    chart.setAttribute("role", "dialog")
    chart.setAttribute("aria-modal", "true")
    chart.setAttribute("aria-label", titleOf(chart))
    reflect(true)
    redraw(chart)
    page.set({ full: keyOf(chart) })
    covered = around(chart)
    for (const each of covered) each.inert = true
    removed.observe(document.body, { childList: true, subtree: true })
  }

  function close() {
    if (!shown) return
    removed.disconnect()
    for (const each of covered) each.inert = false
    shown.classList.remove("chart--full")
    for (const name of ["role", "aria-modal", "aria-label"]) shown.removeAttribute(name)
    reflect(false)
    redraw(shown)
    shown.querySelector('[data-do="full"]')?.focus()
    shown = null
    page.set({ full: null })
  }

  function reflect(isFull) {
    const button = shown.querySelector('[data-do="full"]')
    button?.setAttribute("aria-pressed", isFull)
    document.body.classList.toggle("has-full-chart", isFull)
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown && !document.querySelector(":popover-open, dialog[open]")) close()
  })

  // Opens the chart named in the URL; some pages load it later.
  function look() {
    const named = () => requested && [...page.charts()].find((each) => keyOf(each) === requested)
    if (requested && !named()) page.make?.(requested)
    const chart = named()
    if (!chart) return
    const section = chart.closest("details")
    if (section) section.open = true
    open(chart)
    chart.tabIndex = -1
    chart.focus()
  }

  look()
  return {
    look,
    toggle: (chart) => (shown === chart ? close() : open(chart)),
    isShown: (chart) => shown === chart,
    // Call before a chart is moved or removed.
    close,
  }
}

// Legends are shown in full screen only.
function redraw(element) {
  const chart = chartOf(element)
  if (chart?.isDrawn) chart.repaint().catch(reportError)
}

// Elements covered by the chart, to be made inert, except those that already are.
function around(chart) {
  const found = []
  for (let inner = chart; inner !== document.body; inner = inner.parentElement) {
    const beside = [...inner.parentElement.children].filter((each) => each !== inner)
    found.push(...beside.filter((each) => !each.inert && !each.matches("[popover], dialog, template, script, .toasts")))
  }
  return found
}
