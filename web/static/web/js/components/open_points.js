// Opens the run of a point that is clicked, as a link would: with Ctrl in a new tab.
// The figure's customdata begins with the run's id; data-runs-at is what stands before it.

export default function openPoints(element) {
  const plot = element.querySelector(".chart__plot")
  const listen = () => {
    // A chart far from the window is forgotten, and its listeners with it.
    if (element.dataset.drawn !== "true" || plot.dataset.listens === "true") return
    plot.dataset.listens = "true"
    plot.on("plotly_click", ({ points: [point], event }) => {
      const address = `${element.dataset.runsAt}${encodeURIComponent(point.customdata[0])}/`
      if (event.ctrlKey || event.metaKey) window.open(address, "_blank", "noopener")
      else location.assign(address)
    })
  }
  new MutationObserver(() => {
    if (element.dataset.drawn !== "true") delete plot.dataset.listens
    listen()
  }).observe(element, { attributeFilter: ["data-drawn"] })
  listen()
}
