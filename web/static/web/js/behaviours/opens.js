// A button that opens the dialog named by data-opens.
import { openDialog } from "../dialogs.js"

export default function opens(button) {
  button.addEventListener("click", () => openDialog(button.dataset.opens))
}
