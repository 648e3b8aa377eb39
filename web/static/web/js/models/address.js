// Says in the page's address what is looked at, so that a link shows the same.

// What is empty is taken out.
export function keepInAddress(changes) {
  history.replaceState(history.state, "", withChanges(location.href, changes))
}

export function withChanges(href, changes) {
  const address = new URL(href)
  for (const [name, value] of Object.entries(changes)) {
    value === null || value === "" ? address.searchParams.delete(name) : address.searchParams.set(name, value)
  }
  return address.href
}
