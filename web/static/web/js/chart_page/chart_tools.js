// The buttons of charts, added once they are drawn, and the menu that one of them opens: what
// can be done with any chart. A page adds what only its own charts can.

import { gettext } from "../core/texts.js"
import { toast } from "../core/toasts.js"
import { walk } from "../core/menu.js"
import { chartOf } from "../charts/draw_queue.js"
import { placeBeside } from "../core/placement.js"
import { fullScreen } from "./full_screen.js"
import { titleOf } from "./chart_names.js"
import { canCopyPictures, copyPicture, copySvg, saveChartPage, savePicture } from "../export/picture.js"
import { savePoints } from "../export/save_points.js"

// `actions` are by what a button does, with the chart and the button; `onAdded` hears of a
// chart that got its buttons, `onDrawn` of each one drawn, `onOpened` of the menu of one.
// Returns what shows one over the whole window.
export function tools(page, { actions = {}, onAdded, onDrawn, onOpened } = {}) {
  const panel = page.part("chart-menu")
  const full = fullScreen(page)
  let current = null

  const every = {
    full: (chart) => full.toggle(chart),
    menu(chart, button) {
      current = chart
      panel.querySelector('[data-do="copy-png"]').hidden = !canCopyPictures()
      onOpened?.(chart)
      panel.showPopover()
      placeBeside(panel, button)
      items(panel)[0].focus()
    },
    "copy-png": (chart) => tell(copyPicture(chartOf(chart))),
    "copy-svg": (chart) => tell(copySvg(chartOf(chart))),
    png: (chart) => savePicture(chartOf(chart), "png"),
    svg: (chart) => savePicture(chartOf(chart), "svg"),
    html: (chart) => saveChartPage(chartOf(chart)),
    points: (chart) => savePoints(chartOf(chart)),
    ...actions,
  }

  function drawn(chart) {
    // What has no name has nothing to save it as.
    if (!titleOf(chart)) return
    if (!chart.querySelector(".chart__tools")) {
      add(page, chart)
      onAdded?.(chart)
    }
    chart.querySelector('[data-do="full"]').setAttribute("aria-pressed", full.isShown(chart))
    onDrawn?.(chart)
    full.look()
  }

  page.list.addEventListener("chart-drawn", ({ target }) => drawn(target))
  page.list.addEventListener("charts-listed", () => full.look())
  page.list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]")
    const chart = event.target.closest('[data-behaviour="chart"]')
    if (button && chart) every[button.dataset.do]?.(chart, button)
  })
  panel.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]")
    if (!button) return
    panel.hidePopover()
    every[button.dataset.do]?.(current, button)
  })
  panel.addEventListener("keydown", (event) => walk(event, items(panel)))
  for (const chart of page.charts()) if (chart.dataset.drawn === "true") drawn(chart)
  return full
}

const items = (panel) => [...panel.querySelectorAll("[data-do]:not([hidden])")]

function add(page, chart) {
  const found = page.part("chart-tools").content.cloneNode(true)
  const title = chart.querySelector(".chart__title")
  title ? title.after(found) : chart.prepend(found)
}

async function tell(copying) {
  if (await copying) return toast(gettext("Copied."))
  toast(gettext("This browser does not let the page copy. Save the picture instead."), { isError: true })
}
