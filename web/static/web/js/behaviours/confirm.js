// Opens the dialog named by data-confirm before a form is sent.
export default function confirm(form) {
  const dialog = document.getElementById(form.dataset.confirm)
  let isSure = false

  form.addEventListener("submit", (event) => {
    if (isSure) return
    event.preventDefault()
    dialog.returnValue = ""
    dialog.showModal()
  })

  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "yes") return
    isSure = true
    form.requestSubmit()
  })
}
