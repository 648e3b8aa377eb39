// Says what the server has against a request that htmx made. Refusals that belong into the
// page are put there by htmx; the others come as plain text, and nothing is swapped.
//
// A poll that is refused goes on, and says so quietly (components/stale_notice.js); what loads
// itself says it in its own place; whatever somebody pressed is answered by a toast.
import { made } from "./elements.js"
import { toast } from "./toasts.js"
import { gettext } from "./texts.js"

const UNANSWERED = gettext("The server did not answer. Try again in a moment.")
const LOADS_ITSELF = ["intersect", "load", "revealed"]

export function isPoll({ sourceEvent }) {
  return sourceEvent?.type === "every"
}

// Whether the server did as it was asked; what is as it was need not be sent.
export function isAnswered({ response }) {
  return response?.raw?.ok || response?.status === 304
}

// What to tell of an answer; null where the page shows it anyway.
export function refusalIn({ status, headers }, text) {
  if (headers.get("Content-Type")?.startsWith("text/plain") && text.trim()) return text
  // From a server before ours.
  return status === 429 || status >= 500 ? UNANSWERED : null
}

export function sayRefusals() {
  document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
    const said = refusalIn(ctx.response, ctx.text)
    if (said === null) return
    // Else htmx would take the page's title from a page of refusal.
    ctx.text = ""
    say(ctx, said)
  })
  document.addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
    // What somebody typed or pressed meanwhile is asked for instead.
    if (ctx && !ctx.response && error.name === "TypeError") say(ctx, UNANSWERED)
  })
}

function say(ctx, text) {
  // Whoever says it in a better place prevents the default.
  const isMine = window.htmx.trigger(ctx.sourceElement, "refused", text)
  if (!isMine) return
  if (isPoll(ctx)) {
    document.dispatchEvent(new CustomEvent("poll-refused", { detail: text }))
  } else if (LOADS_ITSELF.includes(ctx.sourceEvent?.type)) {
    ctx.sourceElement.replaceChildren(made("p", "muted wrap", gettext("%(why)s Reload the page to see this.", { why: text })))
  } else {
    toast(text, { isError: true })
  }
}
