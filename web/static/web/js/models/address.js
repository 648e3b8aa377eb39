// Says in the page's address what is looked at, so that a link shows the same.

// What is empty is taken out.
export function keepInAddress(changes) {
  history.replaceState(history.state, "", withChanges(location.href, changes))
}

export function withChanges(href, changes) {
  const address = new URL(href)
  change(address.searchParams, changes)
  return address.href
}

// Has links and forms with data-keeps-zoom, wherever on the page, lead to the same.
export function lead(changes) {
  for (const way of document.querySelectorAll("[data-keeps-zoom]")) {
    if (way instanceof HTMLFormElement) setFields(way, changes)
    else way.href = withChanges(way.href, changes)
  }
}

export function withParameters(query, changes) {
  const parameters = new URLSearchParams(query)
  change(parameters, changes)
  return String(parameters)
}

function change(parameters, changes) {
  for (const [name, value] of Object.entries(changes)) {
    value === null || value === "" ? parameters.delete(name) : parameters.set(name, value)
  }
}

function setFields(form, values) {
  for (const [name, value] of Object.entries(values)) {
    form.elements[name]?.remove()
    if (value === null || value === "") continue
    const field = document.createElement("input")
    Object.assign(field, { type: "hidden", name, value })
    form.append(field)
  }
}
