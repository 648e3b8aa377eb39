// Shows skeleton lines in elements with data-skeleton (number of lines) while htmx loads them.
// Delayed, so that fast responses do not flicker.
import { createElement } from "./elements.js"

const LATE_MS = 120

// By target element: the requesting elements and the previous content.
const loading = new Map()

export function showSkeletons() {
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => begin(ctx))
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => end(ctx))
  // Closing a dialog aborts its requests, which would open it again.
  document.addEventListener("close", ({ target: dialog }) => {
    for (const [target, { sources }] of loading) if (dialog.contains(target)) sources.forEach(abort)
  }, { capture: true })
}

export function skeleton(lines) {
  const element = createElement("div", "skeletons")
  element.setAttribute("aria-hidden", "true")
  element.append(...Array.from({ length: lines }, () => createElement("span", "skeleton")))
  return element
}

function begin({ sourceElement, target }) {
  if (!target?.dataset?.skeleton) return
  const state = loading.get(target) ?? { sources: new Set(), lines: null }
  loading.set(target, state)
  state.sources.add(sourceElement)
  target.setAttribute("aria-busy", "true")
  // Keeps the pressed element visible if it is inside the target.
  const isFromWithin = target !== sourceElement && target.contains(sourceElement)
  if (!isFromWithin) state.late ??= setTimeout(() => show(target, state), LATE_MS)
}

function show(target, state) {
  state.before = [...target.childNodes]
  state.lines = skeleton(Number(target.dataset.skeleton))
  target.replaceChildren(state.lines)
}

// Restores the previous content if no response arrived.
function end({ sourceElement, target }) {
  const state = loading.get(target)
  state?.sources.delete(sourceElement)
  if (!state || state.sources.size) return
  loading.delete(target)
  clearTimeout(state.late)
  target.removeAttribute("aria-busy")
  if (state.lines?.parentElement === target) target.replaceChildren(...state.before)
}

const abort = (source) => source.dispatchEvent(new Event("htmx:abort"))
