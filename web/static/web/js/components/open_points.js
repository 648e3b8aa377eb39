// Opens the run of a clicked point; with Ctrl in a new tab. customdata starts with the run id;
// data-runs-at is the URL prefix.

export default function openPoints(element) {
  const plot = element.querySelector(".chart__plot")
  const listen = () => {
    // A chart scrolled far away is released together with its listeners.
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
