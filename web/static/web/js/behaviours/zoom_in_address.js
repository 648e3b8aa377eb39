// Keeps how far a page's charts are zoomed in its address, so that a link shows the same;
// its button shows all again.

export default function zoomInAddress(list) {
  const button = list.querySelector('[data-part="unzoom"]')

  function zoom(range) {
    const address = new URL(location.href)
    for (const name of ["low", "high"]) {
      range ? address.searchParams.set(name, range[name]) : address.searchParams.delete(name)
    }
    history.replaceState(history.state, "", address)
    list.dataset.chartQuery = range ? new URLSearchParams(range) : ""
    button.hidden = !range
    for (const link of list.querySelectorAll("a[data-keeps-zoom]")) keep(link, range)
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

// Another group of readings is looked at for the same time.
function keep(link, range) {
  const address = new URL(link.href)
  for (const name of ["low", "high"]) {
    range ? address.searchParams.set(name, range[name]) : address.searchParams.delete(name)
  }
  link.href = address
}
