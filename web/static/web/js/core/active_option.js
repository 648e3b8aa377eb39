// Combobox: the field keeps focus and references the active option.

// `isSelected` returns whether an option is selected; by default the active one is.
export function mark(input, list, active, isSelected = (place) => place === active) {
  const options = [...list.querySelectorAll("[role=option]")]
  for (const [place, option] of options.entries()) {
    option.setAttribute("aria-selected", String(isSelected(place)))
    option.classList.toggle("is-active", place === active)
  }
  const option = options[active]
  if (!option) return input.removeAttribute("aria-activedescendant")
  input.setAttribute("aria-activedescendant", option.id)
  option.scrollIntoView({ block: "nearest" })
}

// Returns the next active option after an arrow key, wrapping around; undefined for other keys.
export function stepped(key, active, count) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key]
  if (!step || !count) return undefined
  return active < 0 && step < 0 ? count - 1 : (active + step + count) % count
}
