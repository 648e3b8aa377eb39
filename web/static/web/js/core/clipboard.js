// Copies text, with a fallback for pages without HTTPS. A button briefly confirms; a toast reports
// failure.
import { createElement } from "./elements.js"
import { toast } from "./toasts.js"
import { gettext } from "./texts.js"

const FEEDBACK_MS = 1_500

export async function copyWithFeedback(button, text) {
  const isCopied = await copyText(text, button)
  if (!isCopied) return toast(gettext("The browser blocked copying. Select the text and copy it manually."), { isError: true })
  const label = (button.dataset.label ??= button.getAttribute("aria-label") ?? "")
  setLabel(button, gettext("Copied"), "yes")
  setTimeout(() => setLabel(button, label, ""), FEEDBACK_MS)
}

// `near` is inside the open dialog, if any, because the fallback needs focus.
export async function copyText(text, near = document.body.lastElementChild) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyFromField(text, near)
  }
}

function copyFromField(text, near) {
  const field = createElement("textarea", "visually-hidden")
  const before = document.activeElement
  field.value = text
  near.after(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  before?.focus()
  return isCopied
}

function setLabel(button, text, state) {
  button.setAttribute("aria-label", text)
  button.title = text
  button.dataset.copied = state
}
