// Entries of the palette and their order. Pure. An entry has kind, label, hint, and a URL or an
// action.
import { gettext } from "../core/texts.js"

export const GROUPS = {
  recent: gettext("Recent"),
  tab: gettext("This page"),
  page: gettext("This project"),
  project: gettext("Projects"),
  run: gettext("Runs"),
  ladder: gettext("Ladders"),
  dashboard: gettext("Dashboards"),
  report: gettext("Reports"),
  action: gettext("Actions"),
}
const MAX_RECENT = 12
const RECENT_SHOWN = 6

// Entries whose label or hint contains every typed word.
export function matching(places, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return places.filter((place) => {
    const text = `${place.label} ${place.hint ?? ""}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

// Groups in order; an entry appears in the first matching group.
export function grouped(places) {
  const seen = new Set()
  const groups = new Map(Object.keys(GROUPS).map((kind) => [kind, []]))
  for (const kind of groups.keys()) {
    for (const place of places.filter((each) => each.kind === kind)) {
      if (place.url && seen.has(place.url)) continue
      if (place.url) seen.add(place.url)
      groups.get(kind).push(place)
    }
  }
  return [...groups].filter(([, members]) => members.length > 0)
}

// Recent pages, latest first.
export function remembered(recent, place) {
  return [place, ...recent.filter((each) => each.url !== place.url)].slice(0, MAX_RECENT)
}

export function recentPlaces(recent, here) {
  return recent
    .filter((place) => place.url !== here)
    .slice(0, RECENT_SHOWN)
    .map((place) => ({ ...place, kind: "recent" }))
}

// The stored list may come from an older version or be invalid.
export function readRecent(text) {
  try {
    const stored = JSON.parse(text ?? "[]")
    return stored.filter(
      ({ url, label, hint }) => isLocal(url) && typeof label === "string" && typeof hint === "string",
    )
  } catch {
    return []
  }
}

function isLocal(url) {
  return typeof url === "string" && /^\/(?![/\\])/.test(url)
}
