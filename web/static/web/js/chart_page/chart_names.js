// Title and key of a chart.

export function titleOf(chart) {
  return chart.dataset.title ?? chart.querySelector(".chart__title")?.title ?? ""
}

export function keyOf(chart) {
  return chart.dataset.key ?? chart.dataset.chart ?? chart.id
}

export function fileNameOf(chart) {
  return titleOf(chart).replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 100) || "chart"
}
