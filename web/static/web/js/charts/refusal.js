// Converts an error response to an Error; `isRefusal` distinguishes it from a connection error.
import { gettext } from "../core/texts.js"

export async function errorOf(response) {
  const error = new Error(await messageOf(response))
  error.isRefusal = response.status < 500
  return error
}

async function messageOf(response) {
  try {
    return (await response.json()).error.message
  } catch {
    return gettext("the server returned status %(status)s", { status: response.status })
  }
}
