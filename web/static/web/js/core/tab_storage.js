// What a page's address has no room for, kept while its tab is open: whoever loads the page
// again or comes back to it finds it, and whoever goes to it anew finds the page as it is.

export function keep(name, text) {
  try {
    if (text) sessionStorage.setItem(keyOf(name), text)
    else sessionStorage.removeItem(keyOf(name))
  } catch {
    // Where a browser stores nothing, the page works without.
  }
}

export function kept(name) {
  const [visit] = performance.getEntriesByType("navigation")
  try {
    if (visit?.type === "navigate") sessionStorage.removeItem(keyOf(name))
    return sessionStorage.getItem(keyOf(name)) ?? ""
  } catch {
    return ""
  }
}

const keyOf = (name) => `${name} ${location.pathname}`
