// Opens the dialog named by data-dialog.
export default function openDialog(button) {
  button.addEventListener("click", () =>
    document.getElementById(button.dataset.dialog).showModal(),
  )
}
