// Opens a tab by its key, as aria-keyshortcuts names it.

const TYPED_INTO = "input, textarea, select, [contenteditable], [role=grid]"

export default function tabKeys(tabs) {
  const listen = (event) => {
    if (!tabs.isConnected) return document.removeEventListener("keydown", listen)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest?.(TYPED_INTO)) return
    const key = CSS.escape(event.key)
    tabs.querySelector(`[aria-keyshortcuts="${key}"]`)?.click()
  }
  document.addEventListener("keydown", listen)
}
