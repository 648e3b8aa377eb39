// Dropdown: closes on Escape, on an outside click and when another one opens.
export default function dropdown(element) {
  element.addEventListener("toggle", () => {
    if (!element.open) return
    for (const other of document.querySelectorAll('details[data-behaviour="dropdown"][open]')) {
      if (other !== element) other.open = false
    }
  })
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !element.open) return
    element.open = false
    element.querySelector("summary").focus()
  })
  document.addEventListener("pointerdown", (event) => {
    if (element.open && !element.contains(event.target) && !event.target.closest("dialog")) element.open = false
  })
}
