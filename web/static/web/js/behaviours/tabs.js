// Opens a tab by its key, as aria-keyshortcuts names it, and shows which one is open
// where they do not fit side by side.

const TYPED_INTO = "input, textarea, select, [contenteditable], [role=grid]"

export default function openTabs(tabs) {
  const open = tabs.querySelector("[aria-current]")
  // Not scrollIntoView: the page itself stays where it is.
  if (open) tabs.scrollLeft = open.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2
  const listen = (event) => {
    if (!tabs.isConnected) return document.removeEventListener("keydown", listen)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest?.(TYPED_INTO)) return
    const key = CSS.escape(event.key)
    tabs.querySelector(`[aria-keyshortcuts="${key}"]`)?.click()
  }
  document.addEventListener("keydown", listen)
}
