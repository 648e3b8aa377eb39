// Says that the server cannot be reached, and when it is back. It is asked when a request
// of the page failed, when the network changed, and now and then while somebody looks.
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

  // A hidden page asks for nothing; it looks as soon as it is shown again.
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
