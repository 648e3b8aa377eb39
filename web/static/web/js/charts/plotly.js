// Loads Plotly when the first chart nears the viewport. Pages that start with charts preload it:
// <link rel="preload" data-part="plotly">. The script runs when a figure has arrived, because
// evaluating it blocks the page.

import { gettext } from "../core/texts.js"

const ADDRESS = new URL("../../../vendor/plotly-cartesian-4.1.1.min.js", import.meta.url)

// Removes the buttons that upload charts or link to other sites.
export const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  showSendToCloud: false,
  plotlyServerURL: "",
  typesetMath: false,
  doubleClick: "autosize",
  // Tips would cover the buttons of the page.
  showTips: false,
  modeBarButtonsToRemove: [
    "sendChartToCloud",
    "select2d",
    "lasso2d",
    "zoomIn2d",
    "zoomOut2d",
    "resetScale2d",
  ],
}

let loading = null

// Preloads the script without evaluating it.
export function expectPlotly() {
  if (loading || window.Plotly || document.querySelector('link[data-part="plotly"]')) return
  const link = document.createElement("link")
  Object.assign(link, { rel: "preload", as: "script", href: ADDRESS.href })
  link.dataset.part = "plotly"
  document.head.append(link)
}

export function loadPlotly() {
  // Retries once, because a failed preload is not repeated.
  loading ??= load()
    .catch(load)
    .catch((error) => {
      loading = null
      throw error
    })
  return loading
}

function load() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = ADDRESS.href
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => reject(new Error(gettext("Plotly could not be loaded")))
    document.head.append(script)
  })
}
