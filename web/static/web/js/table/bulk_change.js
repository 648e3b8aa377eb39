// Sends a bulk change with a client-generated name. If the response is lost, the result is
// requested by this name.
import { NoResponseError, post } from "../core/post.js"

// The server spends up to 20 s on a change and may have to wait for a lock first.
const SERVER_TIMEOUT_MS = 30_000
const POLL_MS = 2_000

// Resolves to the server's response. If the result stays unknown, `lost` is the name of the
// change and `changed` lists the confirmed ids. `onLost` is called before the first status
// request.
export async function bulkChange(address, fields, { changedUrl, onLost }) {
  const name = newName()
  try {
    const answer = await post(address, { ...fields, change: name })
    if (!Array.isArray(answer?.changed)) throw new NoResponseError()
    return { refusal: "", rest: [], ...answer, lost: null }
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error
  }
  onLost()
  let found = null
  const until = Date.now() + SERVER_TIMEOUT_MS
  while (!found?.is_over && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    found = (await fetchChange(changedUrl, name)) ?? found
  }
  return { refusal: "", rest: [], changed: found?.changed ?? [], lost: found?.is_over ? null : name, wasLost: true }
}

// Returns the runs that a change has modified so far, or null if the server does not respond.
export async function fetchChange(changedUrl, name) {
  const address = `${changedUrl}?${new URLSearchParams({ change: name })}`
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}

// `crypto.randomUUID` requires a secure context.
function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
