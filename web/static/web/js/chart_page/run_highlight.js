// Highlights the lines of one run and fades the others.
//
// A figure lists the run slots of each trace in `slots`, or of each point in `point_slots`.
// The event "run-lit" on the document highlights a slot, null clears; a chart sends
// "run-pointed", which bubbles, when a line or point of a run is under the pointer.
//
// Relies on the DOM of Plotly 4.1.1: g.trace and path.point with bound data.

// With fewer lines the hover box names all of them, and fading is not needed.
const MAX_TOGETHER = 8

let highlighted = null
// The hovered run, by chart.
const pointed = new WeakMap()

// Drawn charts whose figures list their runs.
const plots = new Map()

document.addEventListener("run-lit", ({ detail }) => {
  highlighted = detail
  for (const [plot, figure] of plots) {
    if (plot.isConnected) show(plot, figure, highlighted)
    else plots.delete(plot)
  }
})

export function pointAt(element, slot) {
  element.dispatchEvent(new CustomEvent("run-pointed", { bubbles: true, detail: slot }))
}

// `trace` is the line nearest to the pointer, or null.
export function pointAtLine(plot, trace) {
  const figure = plots.get(plot)
  if (!figure?.slots) return
  const slot = figure.slots[trace]?.[0] ?? null
  if (slot === (pointed.get(plot) ?? null)) return
  pointed.set(plot, slot)
  const count = figure.lines?.length ?? new Set(figure.slots.flat()).size
  if (count > MAX_TOGETHER) show(plot, figure, slot ?? highlighted)
  pointAt(plot, slot)
}

// Call after each draw.
export function registerRuns(plot, figure) {
  if (!figure.slots && !figure.point_slots) return
  if (!plots.has(plot)) listen(plot)
  plots.set(plot, figure)
  pointed.delete(plot)
  show(plot, figure, highlighted)
}

export function unregisterRuns(plot) {
  plots.delete(plot)
}

function listen(plot) {
  plot.on("plotly_hover", ({ points: [point] }) => {
    const { slots, point_slots: ofPoints, layout } = plots.get(plot) ?? {}
    // A unified hover has no single run.
    if (layout?.hovermode !== "closest") return
    const [slot] = ofPoints ? [ofPoints[point.curveNumber]?.[point.pointNumber]] : (slots?.[point.curveNumber] ?? [])
    if (slot === undefined || slot === null) return
    if (slots) show(plot, { slots }, slot)
    pointAt(plot, slot)
  })
  plot.on("plotly_unhover", () => {
    if (!plots.has(plot)) return
    show(plot, plots.get(plot), highlighted)
    pointAt(plot, null)
  })
}

function show(plot, { slots, point_slots: ofPoints }, slot) {
  plot.classList.toggle("chart__plot--lit", slot !== null)
  for (const trace of plot.querySelectorAll(".scatterlayer > .trace")) {
    const index = trace.__data__?.[0]?.trace?.index
    if (slots) trace.classList.toggle("chart__lit", slot !== null && Boolean(slots[index]?.includes(slot)))
    else for (const point of trace.querySelectorAll(".point")) {
      point.classList.toggle("chart__lit", slot !== null && ofPoints[index]?.[point.__data__?.i] === slot)
    }
  }
}
