// A button that opens the dialog named by data-opens.
import { openDialog } from "../core/dialogs.js"

export default function openDialogButton(button) {
  button.addEventListener("click", () => openDialog(button.dataset.opens))
}
