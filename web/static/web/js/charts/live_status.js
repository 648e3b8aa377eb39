// Reports a lost connection and its time while charts may show outdated points.
import { clockSeconds } from "../core/clock.js"
import { isSuccess } from "../core/request_errors.js"
import { gettext } from "../core/texts.js"

export function liveStatus(page) {
  const sign = page.part("gone")
  let since = null

  function show() {
    sign.hidden = since === null
    if (since) sign.textContent = gettext(
    "No response from the server since %(time)s. Data may be outdated; retrying.",
    { time: clockSeconds(since) },
  )
  }
  // Called by every poll of every chart, so only changes are rendered.
  const reportOnline = () => {
    if (since === null) return
    since = null
    show()
  }
  const reportOffline = () => {
    since ??= new Date()
    show()
  }

  page.list.addEventListener("chart-asked", ({ detail: error }) => {
    if (error === null || error.isRefusal) reportOnline()
    else reportOffline()
  })
  page.list.addEventListener("htmx:error", reportOffline)
  page.list.addEventListener("htmx:after:request", ({ detail }) => detail?.ctx && isSuccess(detail.ctx) && reportOnline())
}
