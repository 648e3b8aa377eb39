// Adds the text alternative of a chart for screen readers.
import { summaryOf } from "./chart_summary.js"

let count = 0

export function describe(element, plot, data, layout) {
  let summary = element.querySelector(":scope > [data-part=summary]")
  if (!summary) {
    count += 1
    summary = document.createElement("p")
    summary.className = "visually-hidden"
    summary.dataset.part = "summary"
    summary.id = `chart-summary-${count}`
    element.append(summary)
    plot.setAttribute("aria-describedby", summary.id)
  }
  const text = summaryOf(data, layout)
  if (summary.textContent !== text) summary.textContent = text
}
