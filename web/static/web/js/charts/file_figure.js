// Draws a figure that a run logged. data-figure-url returns the sanitized figure and a note. Its
// own colors are kept.

import { CONFIG, loadPlotly } from "./plotly.js"
import { gettext } from "../core/texts.js"

export default async function start(element) {
  try {
    const response = await fetch(element.dataset.figureUrl, { headers: { Accept: "application/json" } })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error.message)
    if (answer.figure) await draw(element, answer.figure)
    if (answer.note) showMessage(element, answer.note)
  } catch (error) {
    showMessage(element, gettext("This figure could not be drawn: %(why)s", { why: error.message }))
  }
}

async function draw(element, figure) {
  const plotly = await loadPlotly()
  const plot = document.createElement("div")
  element.append(plot)
  await plotly.newPlot(plot, figure.data, figure.layout, CONFIG)
  element.dataset.drawn = "true"
  new ResizeObserver((_, observer) => {
    if (plot.offsetParent) plotly.Plots.resize(plot)
    if (plot.isConnected) return
    observer.disconnect()
    plotly.purge(plot)
  }).observe(plot)
}

function showMessage(element, text) {
  const note = document.createElement("p")
  note.className = "muted"
  note.textContent = text
  element.append(note)
}
