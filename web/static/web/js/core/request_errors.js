// Reports errors of htmx requests. Errors that belong into the page are swapped in by htmx; others
// arrive as plain text and are not swapped.
//
// Failed polls show a notice (components/stale_notice.js), parts that load themselves show the
// error in place, and user actions show a toast.
import { createElement } from "./elements.js"
import { toast } from "./toasts.js"
import { gettext } from "./texts.js"

const NO_RESPONSE = gettext("The server did not respond. Try again in a moment.")
const LOADS_ITSELF = ["intersect", "load", "revealed"]

export function isPoll({ sourceEvent }) {
  return sourceEvent?.type === "every"
}

// 304 counts as success.
export function isSuccess({ response }) {
  return response?.raw?.ok || response?.status === 304
}

// Returns the error to show, or null if the page shows it anyway.
export function errorMessageOf({ status, headers }, text) {
  if (headers.get("Content-Type")?.startsWith("text/plain") && text.trim()) return text
  // From a proxy.
  return status === 429 || status >= 500 ? NO_RESPONSE : null
}

export function showRequestErrors() {
  document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
    const message = errorMessageOf(ctx.response, ctx.text)
    if (message === null) return
    // Otherwise htmx would set the page's title from the error page.
    ctx.text = ""
    showError(ctx, message)
  })
  document.addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
    // An aborted request was replaced by a newer one.
    if (ctx && !ctx.response && error.name === "TypeError") showError(ctx, NO_RESPONSE)
  })
}

function showError(ctx, text) {
  // Elements that show the error themselves call preventDefault().
  const isUnhandled = window.htmx.trigger(ctx.sourceElement, "refused", text)
  if (!isUnhandled) return
  if (isPoll(ctx)) {
    document.dispatchEvent(new CustomEvent("poll-refused", { detail: text }))
  } else if (LOADS_ITSELF.includes(ctx.sourceEvent?.type)) {
    ctx.sourceElement.replaceChildren(createElement("p", "muted wrap", gettext("%(why)s Reload the page to try again.", { why: text })))
  } else {
    toast(text, { isError: true })
  }
}
