// Opens a dialog when something is put into it, and empties it when it is closed: what it
// showed may be shown once only. A form in it closes it by "dialog-done", a button by
// data-part="close". It takes neither keys nor clicks until all in it answers them: Enter in a
// list of fields would send the form before the list is one.
import { connect } from "../core/connect.js"

export default function filledDialog(dialog) {
  const content = dialog.querySelector("[data-part=content]") ?? dialog
  let fillings = 0

  async function open() {
    const filling = (fillings += 1)
    if (!content.childElementCount) return
    content.inert = true
    await connect(content)
    // Meanwhile something else may have been put into it, or it was emptied.
    if (filling !== fillings) return
    content.inert = false
    if (!dialog.open) dialog.showModal()
    content.querySelector("[autofocus]")?.focus()
  }
  // Toasts within the dialog are no reason to move the focus.
  const isContent = ({ classList }) => !classList?.contains("toasts")
  new MutationObserver((changes) => {
    // What it was opened for did not come.
    if (!content.childElementCount) return dialog.close()
    if (changes.some(({ addedNodes }) => [...addedNodes].some(isContent))) open()
  }).observe(content, { childList: true })
  open()
  dialog.addEventListener("close", () => {
    fillings += 1
    content.replaceChildren()
  })
  dialog.addEventListener("click", ({ target }) => {
    if (target.closest("[data-part=content] [data-part=close]")) dialog.close()
  })
  document.addEventListener("dialog-done", () => dialog.close())
}
