// Opens dialogs by id. Dialogs prepare themselves on the event "dialog-open".

export function openDialog(id) {
  const dialog = document.getElementById(id)
  if (!dialog || dialog.open) return
  // Only one dialog is open at a time.
  document.querySelectorAll("dialog[open]").forEach((other) => other.close())
  dialog.showModal()
  dialog.dispatchEvent(new CustomEvent("dialog-open"))
}
