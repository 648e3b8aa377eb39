// Converts an error response to an Error; `isRefusal` distinguishes it from a connection error.
import { gettext } from "../core/texts.js"

export async function refusal(response) {
  const error = new Error(await said(response))
  error.isRefusal = response.status < 500
  return error
}

async function said(response) {
  try {
    return (await response.json()).error.message
  } catch {
    return gettext("the server answered %(status)s", { status: response.status })
  }
}
