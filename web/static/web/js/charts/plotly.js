// Loads Plotly, which is large, when the first chart of a page comes into view.

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
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = ADDRESS.href
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => {
      loading = null
      reject(new Error("Plotly could not be loaded"))
    }
    document.head.append(script)
  })
  return loading
}
