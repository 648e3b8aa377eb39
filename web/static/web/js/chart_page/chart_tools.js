// Chart buttons, added after the first draw, and the menu for any chart. Pages add their own
// actions.

import { gettext } from "../core/texts.js"
import { toast } from "../core/toasts.js"
import { moveFocus } from "../core/menu.js"
import { chartOf } from "../charts/draw_queue.js"
import { placeBeside } from "../core/placement.js"
import { fullScreen } from "./full_screen.js"
import { keyOf, titleOf } from "./chart_names.js"
import { copyText } from "../core/clipboard.js"
import { canCopyPictures, copyPicture, copySvg, saveChartPage, savePicture } from "../export/picture.js"
import { savePoints } from "../export/save_points.js"

// `actions` maps names of buttons to functions of chart and button; `onAdded` is called when a
// chart got its buttons, `onDrawn` after each draw, `onOpened` when a menu opens. Returns the
// full-screen view.
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
    link: (chart) => reportLink(copyText(addressOf(chart))),
    "copy-png": (chart) => reportCopy(copyPicture(chartOf(chart))),
    "copy-svg": (chart) => reportCopy(copySvg(chartOf(chart))),
    png: (chart) => savePicture(chartOf(chart), "png"),
    svg: (chart) => savePicture(chartOf(chart), "svg"),
    html: (chart) => saveChartPage(chartOf(chart)),
    points: (chart) => savePoints(chartOf(chart)),
    ...actions,
  }

  function drawn(chart) {
    // Untitled charts have no file name to save as.
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
  panel.addEventListener("keydown", (event) => moveFocus(event, items(panel)))
  for (const chart of page.charts()) if (chart.dataset.drawn === "true") drawn(chart)
  return full
}

const items = (panel) => [...panel.querySelectorAll("[data-do]:not([hidden])")]

function add(page, chart) {
  const found = page.part("chart-tools").content.cloneNode(true)
  const title = chart.querySelector(".chart__title")
  title ? title.after(found) : chart.prepend(found)
}

// The address of the page as it is now, with this chart in full screen.
function addressOf(chart) {
  const address = new URL(location.href)
  address.searchParams.set("full", keyOf(chart))
  return address.href
}

async function reportLink(copying) {
  if (await copying) return toast(gettext("Link copied."))
  toast(gettext("The browser blocked copying. Open the chart in full screen and copy the URL."), { isError: true })
}

async function reportCopy(copying) {
  if (await copying) return toast(gettext("Copied."))
  toast(gettext("The browser blocked copying. Save the image instead."), { isError: true })
}
