// Lights one run among many: its lines stand out, and those of others fade.
//
// A figure says in `slots` of which runs each of its traces is, or in `point_slots` of
// which run each point is. "run-lit" on the document asks for a run by its slot, null for
// none; "run-pointed" bubbles from a chart whose line or point is under the pointer.
//
// This leans on how Plotly 4.1.1 draws: g.trace and path.point with their data beside them.

// Of fewer lines, one box names all at a time, and none has to fade.
const MAX_TOGETHER = 8

let lit = null
// The run whose line is nearest to the pointer, by the chart it is in.
const pointed = new WeakMap()

// The charts that are drawn and know their runs.
const plots = new Map()

document.addEventListener("run-lit", ({ detail }) => {
  lit = detail
  for (const [plot, figure] of plots) {
    if (plot.isConnected) show(plot, figure, lit)
    else plots.delete(plot)
  }
})

export function pointAt(element, slot) {
  element.dispatchEvent(new CustomEvent("run-pointed", { bubbles: true, detail: slot }))
}

// The trace of the line that is nearest to the pointer; null: there is none.
export function pointAtLine(plot, trace) {
  const figure = plots.get(plot)
  if (!figure?.slots) return
  const slot = figure.slots[trace]?.[0] ?? null
  if (slot === (pointed.get(plot) ?? null)) return
  pointed.set(plot, slot)
  const count = figure.lines?.length ?? new Set(figure.slots.flat()).size
  if (count > MAX_TOGETHER) show(plot, figure, slot ?? lit)
  pointAt(plot, slot)
}

// To be called whenever a figure has been drawn.
export function knowRuns(plot, figure) {
  if (!figure.slots && !figure.point_slots) return
  if (!plots.has(plot)) listen(plot)
  plots.set(plot, figure)
  pointed.delete(plot)
  show(plot, figure, lit)
}

export function forgetRuns(plot) {
  plots.delete(plot)
}

function listen(plot) {
  plot.on("plotly_hover", ({ points: [point] }) => {
    const { slots, point_slots: ofPoints, layout } = plots.get(plot) ?? {}
    // What is read together is not one run.
    if (layout?.hovermode !== "closest") return
    const [slot] = ofPoints ? [ofPoints[point.curveNumber]?.[point.pointNumber]] : (slots?.[point.curveNumber] ?? [])
    if (slot === undefined || slot === null) return
    if (slots) show(plot, { slots }, slot)
    pointAt(plot, slot)
  })
  plot.on("plotly_unhover", () => {
    if (!plots.has(plot)) return
    show(plot, plots.get(plot), lit)
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
