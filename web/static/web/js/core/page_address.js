// Stores view state in the page's URL, so that links show the same.

// Empty values are removed.
export function setUrlParameters(changes) {
  history.replaceState(history.state, "", withChanges(location.href, changes))
}

export function withChanges(href, changes) {
  const address = new URL(href)
  change(address.searchParams, changes)
  return address.href
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
