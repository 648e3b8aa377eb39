// Loads Plotly, which is large, when the first chart of a page comes into view. Pages that
// begin with charts name it in their head already: <link rel="preload" data-part="plotly">.
// It runs once there is a figure: running it holds all else up.

import { gettext } from "../core/texts.js"

const ADDRESS = new URL("../../../vendor/plotly-cartesian-4.1.1.min.js", import.meta.url)

// No button uploads a chart to the maker of the library, none leads to a foreign page.
export const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  showSendToCloud: false,
  plotlyServerURL: "",
  typesetMath: false,
  doubleClick: "autosize",
  // A tip lies over the buttons of the page.
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

// It can be on its way while there is nothing to draw; nothing of it runs yet.
export function expectPlotly() {
  if (loading || window.Plotly || document.querySelector('link[data-part="plotly"]')) return
  const link = document.createElement("link")
  Object.assign(link, { rel: "preload", as: "script", href: ADDRESS.href })
  link.dataset.part = "plotly"
  document.head.append(link)
}

export function loadPlotly() {
  // Once more at once: what was asked for early, and failed, is not asked for again else.
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
