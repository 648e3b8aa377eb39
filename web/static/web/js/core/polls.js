// Conditional polling: sends the ETag of the last response. On 304 nothing is parsed, compared or
// drawn.
import { isSuccess, isPoll } from "./request_errors.js"

const etags = new WeakMap()
const skipped = new Set()

export function sendPollVersions() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const version = isPoll(ctx) && etags.get(ctx.sourceElement)
    if (version) ctx.request.headers["If-None-Match"] = version
  })
  document.addEventListener("htmx:after:request", (event) => {
    // A 304 response may carry a new ETag.
    const { ctx } = event.detail
    if (!isSuccess(ctx)) return
    // Another response has replaced the content of the last poll.
    if (!isPoll(ctx)) return void etags.delete(ctx.sourceElement)
    etags.set(ctx.sourceElement, ctx.response.headers.get("ETag"))
    // Otherwise htmx would swap in an empty response.
    if (ctx.response.status === 304) event.preventDefault()
  })
}

// Pauses polls while the page is hidden, by stopping the event in the capture phase, and catches up
// when it is visible again.
export function pausePollsWhileHidden() {
  document.addEventListener("every", (event) => {
    if (!document.hidden) return
    event.stopImmediatePropagation()
    skipped.add(event.target)
  }, { capture: true })
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return
    for (const element of skipped) if (element.isConnected) poll(element)
    skipped.clear()
  })
}

export function poll(element) {
  element.dispatchEvent(new CustomEvent("every"))
}
