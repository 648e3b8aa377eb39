// Offers the dashboards that a chart of the page can be copied to, with the options of the page.

// A widget draws no more series.
const MAX_METRICS = 6
const FLAGS = ["log", "logx", "clip"]
const TEXTS = ["axis", "over", "smoothing", "smoother"]

export function addToDashboard(page, chart, address) {
  const asked = new URL(address, document.baseURI)
  asked.searchParams.set("panel", JSON.stringify(panelOf(chart)))
  const runs = page.part("panels")?.querySelector("input[name=runs]")?.value
  if (runs) asked.searchParams.set("runs", runs)
  window.htmx.ajax("GET", asked.href, { target: "#panel-dialog-content", swap: "innerHTML" })
}

function panelOf(chart) {
  const query = new URLSearchParams(chart.closest("[data-chart-query]")?.dataset.chartQuery)
  const settings = { metrics: JSON.parse(chart.dataset.chart).slice(0, MAX_METRICS) }
  for (const name of TEXTS) if (query.has(name)) settings[name] = query.get(name)
  if (query.has("together")) settings.group = query.get("together")
  for (const name of FLAGS) if (query.get(name) === "1") settings[name] = true
  if (chart.dataset.own === "log") settings.log = true
  // The dashboard gives it another id.
  return { id: "00000000", kind: "chart", settings }
}
