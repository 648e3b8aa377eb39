// Holds clicks and input until the page's modules have loaded.

// Forms with a confirmation dialog must not submit without it.
document.addEventListener("submit", (event) => {
  const form = event.target
  if (!form.dataset.confirm || form.asks) return
  event.preventDefault()
  form.pending = { submitter: event.submitter }
}, { capture: true })

// Buttons do nothing before their behavior is connected.
let pressed = null
document.addEventListener("click", (event) => {
  if ("connected" in document.documentElement.dataset) return
  const button = event.target.closest("button[type=button]")
  if (!button) return
  // Listeners that are already attached would run twice.
  event.stopImmediatePropagation()
  pressed = button
}, { capture: true })
document.addEventListener("connected", () => pressed?.click(), { once: true })

// Text and choices would stay in their fields without effect.
const filled = new Map()
for (const kind of ["input", "change"]) document.addEventListener(kind, holdEvent, { capture: true })

function holdEvent(event) {
  // Events dispatched by a connected behavior pass.
  if (!event.isTrusted || "connected" in document.documentElement.dataset) return
  event.stopImmediatePropagation()
  filled.set(event.target, (filled.get(event.target) ?? new Set()).add(event.type))
}
document.addEventListener("connected", () => {
  for (const [field, kinds] of filled) {
    for (const kind of kinds) field.dispatchEvent(new Event(kind, { bubbles: true }))
  }
}, { once: true })
