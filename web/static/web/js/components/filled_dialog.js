// Opens a dialog when htmx fills it, and empties it on close, because its content may be shown only
// once. "dialog-done" from a form or a button with data-part="close" closes it. The content is
// inert until its behaviors are connected: Enter in a list of fields would submit too early.
import { connect } from "../core/connect.js"

export default function filledDialog(dialog) {
  const content = dialog.querySelector("[data-part=content]") ?? dialog
  let fillings = 0

  async function open() {
    const filling = (fillings += 1)
    if (!content.childElementCount) return
    content.inert = true
    await connect(content)
    // The content may have been replaced or removed.
    if (filling !== fillings) return
    content.inert = false
    if (!dialog.open) dialog.showModal()
    content.querySelector("[autofocus]")?.focus()
  }
  // Toasts in the dialog must not move focus.
  const isContent = ({ classList }) => !classList?.contains("toasts")
  new MutationObserver((changes) => {
    // The request failed, so there is no content.
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
