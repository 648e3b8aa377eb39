// What is pressed before a page answers is held until it does, rather than lost.

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
