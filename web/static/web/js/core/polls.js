// What a poll was answered last, it names when it asks again. A server that has nothing
// else to say then says only that, and nothing of the page is parsed, compared or drawn.
import { isAnswered, isPoll } from "./request_errors.js"

const held = new WeakMap()
const owed = new Set()

export function nameWhatPollsHold() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const version = isPoll(ctx) && held.get(ctx.sourceElement)
    if (version) ctx.request.headers["If-None-Match"] = version
  })
  document.addEventListener("htmx:after:request", (event) => {
    // Who is told that nothing is new may be told a newer name for it.
    const { ctx } = event.detail
    if (!isAnswered(ctx)) return
    // It shows something else than the last poll said.
    if (!isPoll(ctx)) return void held.delete(ctx.sourceElement)
    held.set(ctx.sourceElement, ctx.response.headers.get("ETag"))
    // Else htmx would go on with a swap of nothing.
    if (ctx.response.status === 304) event.preventDefault()
  })
}

// Nobody looks at a hidden page, so it asks the server for nothing. The event is stopped
// on its way down to the element that htmx made it for. Whoever comes back sees at once
// what happened meanwhile.
export function pollWhileSeen() {
  document.addEventListener("every", (event) => {
    if (!document.hidden) return
    event.stopImmediatePropagation()
    owed.add(event.target)
  }, { capture: true })
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return
    for (const element of owed) if (element.isConnected) poll(element)
    owed.clear()
  })
}

export function poll(element) {
  element.dispatchEvent(new CustomEvent("every"))
}
