// Keeps the zoom of a page's charts in the URL; a button resets it.
//
// The shared chart query is in data-chart-query of the element or of a descendant.
import { setUrlParameters, withParameters } from "../core/page_address.js"
import { updateLinks } from "./zoom_links.js"

const WHOLE = { low: null, high: null }

export default function zoomInAddress(element) {
  const button = element.querySelector('[data-part="unzoom"]')
  const list = element.matches("[data-chart-query]") ? element : element.querySelector("[data-chart-query]")

  function zoom(range) {
    const zoomed = range ?? WHOLE
    setUrlParameters(zoomed)
    list.dataset.chartQuery = withParameters(list.dataset.chartQuery, zoomed)
    button.hidden = !range
    updateLinks(zoomed)
    for (const chart of list.querySelectorAll('[data-behaviour="chart"]')) {
      chart.dispatchEvent(new CustomEvent("chart-refresh"))
    }
  }

  list.addEventListener("chart-zoom", (event) => {
    event.preventDefault()
    zoom(event.detail)
  })
  button.addEventListener("click", () => zoom(null))
}
