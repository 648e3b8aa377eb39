// Opens the dialog named by data-confirm before a form is submitted. Until this module has loaded,
// early_input.js blocks the submission.
export default function confirm(form) {
  const dialog = document.getElementById(form.dataset.confirm)
  let isSure = false
  let submitter = null

  form.addEventListener("submit", (event) => {
    if (isSure) return
    event.preventDefault()
    submitter = event.submitter
    dialog.returnValue = ""
    dialog.showModal()
  })

  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "yes") return
    isSure = true
    form.requestSubmit(submitter)
    // Asks again after back navigation.
    isSure = false
  })

  form.asks = true
  if (form.pending) form.requestSubmit(form.pending.submitter)
}
