// A button for charts that are zoomed each by itself: appears with the first zoom, and
// undoes them all.

export default function unzoom(button) {
  document.addEventListener("chart-zoom", ({ detail }) => {
    if (detail) button.hidden = false
  })
  button.addEventListener("click", () => {
    button.hidden = true
    for (const chart of document.querySelectorAll('[data-behaviour="chart"]')) {
      chart.dispatchEvent(new CustomEvent("chart-unzoom"))
    }
  })
}
