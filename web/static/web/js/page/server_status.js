// Shows whether the server is reachable. Checked after failed requests, network changes and
// periodically while the page is visible.
import { clock } from "../core/clock.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

const WELL_MS = 30_000
const AWAY_MS = 4_000
const WAIT_MS = 10_000

export default function away(element) {
  const text = element.querySelector("[data-part=text]")
  const since = element.querySelector("[data-part=since]")
  let seenAt = new Date()
  let waiting = null
  let isAsking = false

  async function ask() {
    clearTimeout(waiting)
    if (isAsking) return
    isAsking = true
    const isThere = await answers(element.dataset.liveUrl)
    isAsking = false
    show(isThere)
    waiting = setTimeout(askIfSeen, isThere ? WELL_MS : AWAY_MS)
  }

  function show(isThere) {
    const wasThere = text.hidden
    if (isThere) seenAt = new Date()
    text.hidden = isThere
    if (isThere && !wasThere) toast(gettext("The server answers again."))
    if (!isThere && wasThere) {
      since.dateTime = seenAt.toISOString()
      since.textContent = clock(seenAt)
    }
  }

  // Hidden pages check when they become visible.
  const askIfSeen = () => (document.hidden ? clearTimeout(waiting) : ask())
  document.addEventListener("visibilitychange", askIfSeen)
  document.addEventListener("htmx:error", askIfSeen)
  window.addEventListener("offline", askIfSeen)
  window.addEventListener("online", askIfSeen)
  waiting = setTimeout(askIfSeen, WELL_MS)
}

async function answers(address) {
  try {
    const signal = AbortSignal.timeout(WAIT_MS)
    return (await fetch(address, { signal, cache: "no-store" })).ok
  } catch {
    return false
  }
}
