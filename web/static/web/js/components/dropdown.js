// Dropdown: closes on Escape, on an outside click and when another one opens.
const clips = (element) => getComputedStyle(element).overflowX !== "visible"

// The panel of a button at the start of a wrapped row opens to the right.
function turn(element) {
  element.classList.remove("drop--start")
  const panel = element.querySelector(":scope > .drop__panel")
  let around = element.parentElement
  while (around.parentElement && !clips(around)) around = around.parentElement
  const edge = Math.max(0, around.getBoundingClientRect().left)
  if (panel && panel.getBoundingClientRect().left < edge) element.classList.add("drop--start")
}

export default function dropdown(element) {
  element.addEventListener("toggle", () => {
    if (!element.open) return
    turn(element)
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
