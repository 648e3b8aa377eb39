// Copies text, with a fallback for pages without HTTPS. A button briefly confirms; a toast reports
// failure.
import { made } from "./elements.js"
import { toast } from "./toasts.js"
import { gettext } from "./texts.js"

const SAID_MS = 1_500

export async function copyBy(button, text) {
  const isCopied = await copied(text, button)
  if (!isCopied) return toast(gettext("This browser does not let the page copy. Select the text and copy it by hand."), { isError: true })
  const label = (button.dataset.label ??= button.getAttribute("aria-label") ?? "")
  say(button, gettext("Copied"), "yes")
  setTimeout(() => say(button, label, ""), SAID_MS)
}

// `near` is inside the open dialog, if any, because the fallback needs focus.
export async function copied(text, near = document.body.lastElementChild) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copiedFromField(text, near)
  }
}

function copiedFromField(text, near) {
  const field = made("textarea", "visually-hidden")
  const before = document.activeElement
  field.value = text
  near.after(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  before?.focus()
  return isCopied
}

function say(button, text, said) {
  button.setAttribute("aria-label", text)
  button.title = text
  button.dataset.said = said
}
