// Loads Plotly, which is large, when the first chart of a page comes into view. Pages that
// begin with charts name it in their head already: <script async data-part="plotly">.
import { gettext } from "../texts.js"

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

export function loadPlotly() {
  loading ??= fromHead()
    .then(() => window.Plotly ?? load())
    .catch((error) => {
      loading = null
      throw error
    })
  return loading
}

// Resolves once the script in the page's head has run or failed, or there is none.
async function fromHead() {
  const script = document.querySelector('script[data-part="plotly"]')
  if (!script || window.Plotly || document.readyState === "complete") return
  await new Promise((resolve) => {
    script.addEventListener("load", resolve)
    script.addEventListener("error", resolve)
    // It may have failed before this was here to listen.
    window.addEventListener("load", resolve)
  })
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
