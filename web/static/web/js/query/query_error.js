// Shows the error of a query below it and marks the position.
import { setText } from "../core/elements.js"

const SHOWN_BEFORE = 30
// Delays errors while the user is typing.
const PAUSE_MS = 1_000
const waiting = new WeakMap()

export function showMistake(input, element, mistake) {
  clearTimeout(waiting.get(input))
  const isTyping = mistake && element.hidden && document.activeElement === input
  if (!isTyping) return show(input, element, mistake)
  waiting.set(input, setTimeout(() => show(input, element, mistake), PAUSE_MS))
}

function show(input, element, mistake) {
  element.hidden = !mistake
  input.setAttribute("aria-invalid", String(Boolean(mistake)))
  if (!mistake) return element.replaceChildren()

  if (mistake.position === undefined) return setText(element, mistake.message)
  // Python counts code points, JavaScript UTF-16 code units.
  const text = [...input.value]
  const { position, length, message } = mistake
  const mark = document.createElement("mark")
  mark.textContent = text.slice(position, position + length).join("") || "␣"
  const before = text.slice(Math.max(0, position - SHOWN_BEFORE), position).join("")
  const place = document.createElement("code")
  place.append(position > SHOWN_BEFORE ? "…" : "", before, mark)
  const shown = `${message} ${place.textContent}`
  if (element.dataset.shown === shown) return
  element.dataset.shown = shown
  element.replaceChildren(`${message} `, place)
}
