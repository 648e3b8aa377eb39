// Updates links and forms with data-keeps-zoom to the current zoom, step and arrangement of charts.
// Those with data-keeps-layout, which lead to another axis, keep only the arrangement.
import { withChanges } from "../core/page_address.js"

const shown = {}

// `changes` are URL parameters; null or "" removes one.
export function lead(changes) {
  Object.assign(shown, changes)
  for (const way of document.querySelectorAll("[data-keeps-zoom], [data-keeps-layout]")) {
    const { layout = undefined, ...zoom } = shown
    const kept = { ...("keepsZoom" in way.dataset && zoom), ...(layout !== undefined && { layout }) }
    if (way instanceof HTMLFormElement) setFields(way, kept)
    else if (Object.keys(kept).length) way.href = withChanges(way.href, kept)
  }
}

// Swapped-in links were rendered with the initial state.
document.addEventListener("htmx:after:swap", () => lead({}))

function setFields(form, values) {
  for (const [name, value] of Object.entries(values)) {
    form.elements[name]?.remove()
    if (value === null || value === "") continue
    const field = document.createElement("input")
    Object.assign(field, { type: "hidden", name, value })
    form.append(field)
  }
}
