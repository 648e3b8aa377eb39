// Opens dialogs by their ids. What a dialog needs to be ready, it does on "dialog-open".

export function openDialog(id) {
  const dialog = document.getElementById(id)
  if (!dialog || dialog.open) return
  // A palette over a list of keys, or the other way round, would have two ways out.
  document.querySelectorAll("dialog[open]").forEach((other) => other.close())
  dialog.showModal()
  dialog.dispatchEvent(new CustomEvent("dialog-open"))
}
