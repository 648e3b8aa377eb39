// Shows whether the server is reachable. Checked after failed requests, network changes and
// periodically while the page is visible.
import { clock } from "../core/clock.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

const ONLINE_INTERVAL_MS = 30_000
const OFFLINE_INTERVAL_MS = 4_000
const WAIT_MS = 10_000

export default function away(element) {
  const text = element.querySelector("[data-part=text]")
  const since = element.querySelector("[data-part=since]")
  let seenAt = new Date()
  let waiting = null
  let isChecking = false

  async function check() {
    clearTimeout(waiting)
    if (isChecking) return
    isChecking = true
    const isThere = await answers(element.dataset.liveUrl)
    isChecking = false
    show(isThere)
    waiting = setTimeout(checkIfVisible, isThere ? ONLINE_INTERVAL_MS : OFFLINE_INTERVAL_MS)
  }

  function show(isThere) {
    const wasThere = text.hidden
    if (isThere) seenAt = new Date()
    text.hidden = isThere
    if (isThere && !wasThere) toast(gettext("The server is responding again."))
    if (!isThere && wasThere) {
      since.dateTime = seenAt.toISOString()
      since.textContent = clock(seenAt)
    }
  }

  // Hidden pages check when they become visible.
  const checkIfVisible = () => (document.hidden ? clearTimeout(waiting) : check())
  document.addEventListener("visibilitychange", checkIfVisible)
  document.addEventListener("htmx:error", checkIfVisible)
  window.addEventListener("offline", checkIfVisible)
  window.addEventListener("online", checkIfVisible)
  waiting = setTimeout(checkIfVisible, ONLINE_INTERVAL_MS)
}

async function answers(address) {
  try {
    const signal = AbortSignal.timeout(WAIT_MS)
    return (await fetch(address, { signal, cache: "no-store" })).ok
  } catch {
    return false
  }
}
