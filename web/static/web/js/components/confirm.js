// Opens the dialog named by data-confirm before a form is sent. Until this is there, the form
// is held (../held.js).
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
    // Whoever comes back to this page is asked again.
    isSure = false
  })

  form.asks = true
  if (form.held) form.requestSubmit(form.held.submitter)
}
