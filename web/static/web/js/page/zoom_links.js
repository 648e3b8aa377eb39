// Links and forms with data-keeps-zoom, wherever on the page, lead to what it shows by now:
// how far its charts are zoomed, which step it stands at, and how they are arranged. Those with data-keeps-layout,
// which lead to another axis, keep only the latter.
import { withChanges } from "../core/page_address.js"

const shown = {}

// `changes` are by their names in the address; null or "" takes one out.
export function lead(changes) {
  Object.assign(shown, changes)
  for (const way of document.querySelectorAll("[data-keeps-zoom], [data-keeps-layout]")) {
    const { layout = undefined, ...zoom } = shown
    const kept = { ...("keepsZoom" in way.dataset && zoom), ...(layout !== undefined && { layout }) }
    if (way instanceof HTMLFormElement) setFields(way, kept)
    else if (Object.keys(kept).length) way.href = withChanges(way.href, kept)
  }
}

// Later changes was written for what the page began with.
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
