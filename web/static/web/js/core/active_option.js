// Which of the options below a field is active: the field keeps the focus and says which.

// `isSelected` says which options are taken; else it is the active one.
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

// The active one after an arrow key, all round; undefined for another key.
export function stepped(key, active, count) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key]
  if (!step || !count) return undefined
  return active < 0 && step < 0 ? count - 1 : (active + step + count) % count
}
