// Says what was done, with a way back for as long as it is shown.
import { icon } from "./run_columns.js"

const SHOWN_MS = 20_000

export function toast(text, { onUndo, isError = false } = {}) {
  document.querySelector(".toast--script")?.remove()
  const element = made("div", `toast toast--script${isError ? " toast--error" : ""}`)
  element.setAttribute("role", isError ? "alert" : "status")
  const said = made("p", "toast__text wrap")
  said.textContent = text
  element.append(icon(isError ? "circle-alert" : "check"), said)
  if (onUndo) element.append(button("Undo", "rotate-ccw", () => (element.remove(), onUndo())))
  element.append(button("", "x", () => element.remove()))
  document.body.append(element)
  let closing = setTimeout(() => element.remove(), SHOWN_MS)
  // Nobody is hurried who points at it or stands on its button.
  for (const type of ["pointerenter", "focusin"]) element.addEventListener(type, () => clearTimeout(closing))
  for (const type of ["pointerleave", "focusout"]) {
    element.addEventListener(type, () => (closing = setTimeout(() => element.remove(), SHOWN_MS)))
  }
}

function button(label, sign, onPress) {
  const element = made("button", label ? "button" : "button button--quiet button--icon")
  element.type = "button"
  if (!label) element.setAttribute("aria-label", "Close")
  element.append(icon(sign), label)
  element.addEventListener("click", onPress)
  return element
}

function made(tag, className) {
  const element = document.createElement(tag)
  element.className = className
  return element
}
