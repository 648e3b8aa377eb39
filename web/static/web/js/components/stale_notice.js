// Shows a small notice while part of the page cannot be refreshed.
import { clock } from "../core/clock.js"
import { isSuccess, isPoll } from "../core/request_errors.js"
import { gettext } from "../core/texts.js"

export default function staleNotice(element) {
  let since = null

  document.addEventListener("poll-refused", ({ detail }) => {
    since ??= clock(new Date())
    const text = gettext("Not refreshed since %(time)s. %(why)s", { time: since, why: detail })
    if (element.textContent !== text) element.textContent = text
    element.hidden = false
  })
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (element.hidden || !isPoll(ctx) || !isSuccess(ctx)) return
    since = null
    element.hidden = true
  })
}
