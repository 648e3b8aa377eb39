// What is pressed and typed before a page answers is held until it does, rather than lost.

// A form that asks first would delete without a question.
document.addEventListener("submit", (event) => {
  const form = event.target
  if (!form.dataset.confirm || form.asks) return
  event.preventDefault()
  form.held = { submitter: event.submitter }
}, { capture: true })

// A button of a behaviour would do nothing.
let pressed = null
document.addEventListener("click", (event) => {
  if ("connected" in document.documentElement.dataset) return
  const button = event.target.closest("button[type=button]")
  if (!button) return
  // Whoever listens already would hear it twice.
  event.stopImmediatePropagation()
  pressed = button
}, { capture: true })
document.addEventListener("connected", () => pressed?.click(), { once: true })

// What is typed or chosen would stay in its field, and nothing would follow from it.
const filled = new Map()
for (const kind of ["input", "change"]) document.addEventListener(kind, hold, { capture: true })

function hold(event) {
  // What a behaviour says by itself has come from one that answers.
  if (!event.isTrusted || "connected" in document.documentElement.dataset) return
  event.stopImmediatePropagation()
  filled.set(event.target, (filled.get(event.target) ?? new Set()).add(event.type))
}
document.addEventListener("connected", () => {
  for (const [field, kinds] of filled) {
    for (const kind of kinds) field.dispatchEvent(new Event(kind, { bubbles: true }))
  }
}, { once: true })
