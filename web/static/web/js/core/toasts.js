// Toasts in a polite live region. A toast with an action stays until it is closed; others
// disappear, unless hovered or focused.
import { icon, createElement } from "./elements.js"
import { gettext } from "./texts.js"

const STAY_MS = 8_000
const HOVER_STAY_MS = 3_000

export function toast(text, { onUndo = null, isError = false } = {}) {
  const region = currentRegion()
  for (const other of region.querySelectorAll(".toast")) {
    // Only the last change can be undone, and duplicates are removed.
    if (other.textContent === text || (onUndo && other.dataset.undo)) other.remove()
  }
  const element = createElement("div", isError ? "toast toast--error" : "toast")
  if (isError) element.setAttribute("role", "alert")
  if (isError) element.append(icon("circle-alert"))
  element.append(createElement("p", "toast__text wrap", text))
  if (onUndo) element.append(undo(element, onUndo))
  element.append(close())
  region.append(element)
  if (!onUndo) dismissLater(element)
}

export function dismissLater(element, wait = STAY_MS) {
  setTimeout(() => {
    const isInUse = element.matches(":hover, :focus-within") || document.hidden
    isInUse ? dismissLater(element, HOVER_STAY_MS) : element.remove()
  }, wait)
}

// A modal dialog covers the page's region and makes it inert.
function currentRegion() {
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1)
  if (!dialog) return document.querySelector("body > .toasts")
  const own = dialog.querySelector(":scope > .toasts") ?? createElement("div", "toasts")
  dialog.append(own)
  return own
}

function undo(element, onUndo) {
  const button = createElement("button", "button")
  button.type = "button"
  button.append(icon("rotate-ccw"), gettext("Undo"))
  button.addEventListener("click", () => {
    element.remove()
    onUndo()
  })
  element.dataset.undo = "true"
  return button
}

function close() {
  const button = createElement("button", "button button--quiet button--icon")
  button.type = "button"
  button.dataset.part = "close"
  button.title = button.ariaLabel = gettext("Close")
  button.append(icon("x"))
  button.addEventListener("click", () => button.closest(".toast").remove())
  return button
}
