// What htmx puts here is shown in the dialog around it, until "dialog-done" is heard or
// a button with data-part="close" is pressed.
import { afterSwap } from "../models/swaps.js"

export default function dialogContent(content) {
  const dialog = content.closest("dialog")
  afterSwap(content.id, () => {
    if (!content.childElementCount) return
    if (!dialog.open) dialog.showModal()
    content.querySelector("[autofocus]")?.focus()
  })
  content.addEventListener("click", ({ target }) => {
    if (target.closest("[data-part=close]")) dialog.close()
  })
  document.addEventListener("dialog-done", () => dialog.close())
  dialog.addEventListener("close", () => content.replaceChildren())
}
