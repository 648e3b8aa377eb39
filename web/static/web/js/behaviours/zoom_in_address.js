// Keeps how far a page's charts are zoomed in its address, so that a link shows the same;
// its button shows all again.
import { keepInAddress, withChanges } from "../models/address.js"

export default function zoomInAddress(list) {
  const button = list.querySelector('[data-part="unzoom"]')

  function zoom(range) {
    const ends = { low: range?.low ?? null, high: range?.high ?? null }
    keepInAddress(ends)
    list.dataset.chartQuery = range ? new URLSearchParams(range) : ""
    button.hidden = !range
    // Another group of readings is looked at for the same time.
    for (const link of list.querySelectorAll("a[data-keeps-zoom]")) link.href = withChanges(link.href, ends)
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
