// Holds a form that asks first until what asks is there: a click right after the page is
// drawn would delete without a question.
document.addEventListener("submit", (event) => {
  const form = event.target
  if (!form.dataset.confirm || form.asks) return
  event.preventDefault()
  form.held = { submitter: event.submitter }
}, { capture: true })
