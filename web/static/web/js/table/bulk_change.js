// Asks for a change of many runs. It has a name that is made here, before it is asked for:
// where the answer is lost, the server tells by it what was changed all the same.
import { Unanswered, post } from "../core/post.js"

// The server works on one for twenty seconds, and may have to wait for others first.
const GOES_ON_MS = 30_000
const AGAIN_MS = 2_000

// Resolves to what the server answers. If nobody could find out what became of it, then
// `lost` is its name, and `changed` what is known. `onLost` is called before it asks.
export async function bulkChange(address, fields, { changedUrl, onLost }) {
  const name = newName()
  try {
    const answer = await post(address, { ...fields, change: name })
    if (!Array.isArray(answer?.changed)) throw new Unanswered()
    return { refusal: "", rest: [], ...answer, lost: null }
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
  onLost()
  let found = null
  const until = Date.now() + GOES_ON_MS
  while (!found?.is_over && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    found = (await changedBy(changedUrl, name)) ?? found
  }
  return { refusal: "", rest: [], changed: found?.changed ?? [], lost: found?.is_over ? null : name, wasLost: true }
}

// What was changed under a name so far; null where the server does not tell.
export async function changedBy(changedUrl, name) {
  const address = `${changedUrl}?${new URLSearchParams({ change: name })}`
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}

// A UUID. Without TLS, browsers make none by themselves.
function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
