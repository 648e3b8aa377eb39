// Sends a form without leaving the page, with the page's own token; what is sent as the page
// is left arrives all the same. Resolves to the answer, if there is any;
// a refusal holds its own.
export async function post(address, fields) {
  const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers:inherited"))
  const response = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": token },
    body: new URLSearchParams(fields),
    keepalive: true,
  }).catch(() => null)
  if (!response) throw new Refused("The server does not answer; nothing changed. Try again.")
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer
  throw new Refused(answer?.error?.message ?? "The server did not answer; try again.", answer)
}

export class Refused extends Error {
  constructor(message, answer = null) {
    super(message)
    this.answer = answer
  }
}
