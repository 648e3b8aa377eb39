// Session storage per page, for state that does not fit into the URL: survives reload and back
// navigation, but not a new visit.

export function store(name, text) {
  try {
    if (text) sessionStorage.setItem(keyOf(name), text)
    else sessionStorage.removeItem(keyOf(name))
  } catch {
    // The page works without storage.
  }
}

export function stored(name) {
  const [visit] = performance.getEntriesByType("navigation")
  try {
    if (visit?.type === "navigate") sessionStorage.removeItem(keyOf(name))
    return sessionStorage.getItem(keyOf(name)) ?? ""
  } catch {
    return ""
  }
}

const keyOf = (name) => `${name} ${location.pathname}`
