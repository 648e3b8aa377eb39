// How lines are dashed, as Plotly 4.1.1 does it.

const DASHES = {
  dash: [3, 3],
  dot: [1, 1],
  dashdot: [3, 1, 1, 1],
  longdash: [5, 5],
  longdashdot: [5, 2, 1, 2],
}

// The lengths of strokes and gaps in pixels; of a solid line: null. `unit` is the length of
// a dot.
export function dashesOf(dash, unit) {
  return DASHES[dash]?.map((length) => length * unit) ?? null
}
