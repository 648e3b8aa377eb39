// What a poll was answered last, it names when it asks again. A server that has nothing
// else to say then says only that, and nothing of the page is parsed, compared or drawn.
import { isPoll } from "./refusals.js"

const held = new WeakMap()

export function nameWhatPollsHold() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const version = isPoll(ctx) && held.get(ctx.sourceElement)
    if (version) ctx.request.headers["If-None-Match"] = version
  })
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (!isPoll(ctx) || !ctx.response.raw.ok) return
    held.set(ctx.sourceElement, ctx.response.headers.get("ETag"))
  })
}
