// Opens a dialog when something is put into it, and empties it when it is closed: what it
// showed may be shown once only.
export default function filledDialog(dialog) {
  const open = () => {
    if (!dialog.open && dialog.childElementCount) dialog.showModal()
  }
  new MutationObserver(open).observe(dialog, { childList: true })
  open()
  dialog.addEventListener("close", () => dialog.replaceChildren())
  // A press beside it is on the dialog itself; what it holds fills it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close()
  })
}
