// Opens a dialog when something is put into it, and empties it when it is closed: what it
// showed may be shown once only. A form in it closes it by "dialog-done", a button by
// data-part="close".
export default function filledDialog(dialog) {
  const content = dialog.querySelector("[data-part=content]") ?? dialog
  const open = () => {
    if (!content.childElementCount) return
    if (!dialog.open) dialog.showModal()
    content.querySelector("[autofocus]")?.focus()
  }
  // Toasts within the dialog are no reason to move the focus.
  const isContent = ({ classList }) => !classList?.contains("toasts")
  new MutationObserver((changes) => {
    if (changes.some(({ addedNodes }) => [...addedNodes].some(isContent))) open()
  }).observe(content, { childList: true })
  open()
  dialog.addEventListener("close", () => content.replaceChildren())
  dialog.addEventListener("click", ({ target }) => {
    if (target.closest("[data-part=content] [data-part=close]")) dialog.close()
  })
  document.addEventListener("dialog-done", () => dialog.close())
}
