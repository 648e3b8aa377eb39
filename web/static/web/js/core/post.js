// Posts a form by fetch, with the page's CSRF token; `keepalive` lets it finish when the page is
// left. Resolves to the response body, if any; an error holds the server's body. Without a complete
// response the outcome is unknown.
import { gettext } from "./texts.js"

export async function post(address, fields) {
  const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers:inherited"))
  const response = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": token },
    body: new URLSearchParams(fields),
    keepalive: true,
  }).catch(() => null)
  const answer = await readBody(response)
  if (response.ok) return answer
  if (answer?.error) throw new RequestError(answer.error.message, answer)
  // A proxy may have given up while the server continued.
  if (response.status >= 500) throw new NoResponseError()
  throw new RequestError(gettext("The server rejected the request (%(status)s).", { status: response.status }))
}

// The request may have been processed even if the response was lost or truncated.
async function readBody(response) {
  const text = await response?.text().catch(() => undefined)
  if (text === undefined) throw new NoResponseError()
  try {
    return text ? JSON.parse(text) : null
  } catch {
    if (response.ok) throw new NoResponseError()
    return null
  }
}

export class RequestError extends Error {
  constructor(message, answer = null) {
    super(message)
    this.answer = answer
  }
}

export class NoResponseError extends RequestError {
  constructor() {
    super(gettext("The connection was lost before the server responded. Check whether the change was made before you try again."))
  }
}
