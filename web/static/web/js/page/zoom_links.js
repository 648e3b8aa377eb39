// Updates links and forms with data-keeps-zoom to the current zoom, step and arrangement of charts.
// Those with data-keeps-layout, which lead to another axis, keep only the arrangement.
import { withChanges } from "../core/page_address.js"

const shown = {}

// `changes` are URL parameters; null or "" removes one.
export function updateLinks(changes) {
  Object.assign(shown, changes)
  for (const element of document.querySelectorAll("[data-keeps-zoom], [data-keeps-layout]")) {
    const { layout = undefined, ...zoom } = shown
    const parameters = { ...("keepsZoom" in element.dataset && zoom), ...(layout !== undefined && { layout }) }
    if (element instanceof HTMLFormElement) setFields(element, parameters)
    else if (Object.keys(parameters).length) element.href = withChanges(element.href, parameters)
  }
}

// Swapped-in links were rendered with the initial state.
document.addEventListener("htmx:after:swap", () => updateLinks({}))

function setFields(form, values) {
  for (const [name, value] of Object.entries(values)) {
    form.elements[name]?.remove()
    if (value === null || value === "") continue
    const field = document.createElement("input")
    Object.assign(field, { type: "hidden", name, value })
    form.append(field)
  }
}
