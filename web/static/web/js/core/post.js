// Sends a form without leaving the page, with the page's own token; what is sent as the page
// is left arrives all the same. Resolves to the answer, if there is any;
// a refusal holds its own. Where no whole answer came, nobody knows what was done.
import { gettext } from "./texts.js"

export async function post(address, fields) {
  const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers:inherited"))
  const response = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": token },
    body: new URLSearchParams(fields),
    keepalive: true,
  }).catch(() => null)
  const answer = await wholeAnswer(response)
  if (response.ok) return answer
  if (answer?.error) throw new Refused(answer.error.message, answer)
  // From a server before ours, which may have given up while ours went on.
  if (response.status >= 500) throw new Unanswered()
  throw new Refused(gettext("The server did not take this (%(status)s).", { status: response.status }))
}

// What was sent may have arrived although nothing of the answer did, or only its beginning.
async function wholeAnswer(response) {
  const text = await response?.text().catch(() => undefined)
  if (text === undefined) throw new Unanswered()
  try {
    return text ? JSON.parse(text) : null
  } catch {
    if (response.ok) throw new Unanswered()
    return null
  }
}

export class Refused extends Error {
  constructor(message, answer = null) {
    super(message)
    this.answer = answer
  }
}

export class Unanswered extends Refused {
  constructor() {
    super(gettext("The connection was lost before the server said what it did: this may be done or not. Look before you try again."))
  }
}
