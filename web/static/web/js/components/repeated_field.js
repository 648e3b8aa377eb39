// A list of fields: "Another" adds one, up to data-most, and each can be removed. Enter moves to
// the next field and never submits, because the first Enter may accept a browser suggestion.
import { gettext } from "../core/texts.js"

export default function repeatedField(element) {
  const items = element.querySelector("[data-part=items]")
  const add = element.querySelector("[data-part=add]")
  const pattern = items.firstElementChild.cloneNode(true)
  clear(pattern)

  const all = () => [...items.children]
  const refresh = () => (add.disabled = all().length >= Number(element.dataset.most))

  function append() {
    const item = pattern.cloneNode(true)
    // Only the first field is required.
    item.querySelector("input").required = false
    items.append(item)
    // Connects behaviors as after a swap.
    window.htmx.process(item)
    item.querySelector("input").focus()
    refresh()
  }

  add.addEventListener("click", append)
  items.addEventListener("click", ({ target }) => {
    const item = target.closest("[data-part=remove]")?.closest("[data-part=item]")
    if (!item) return
    const next = item.nextElementSibling ?? item.previousElementSibling
    if (next) item.remove()
    else clear(item)
    ;(next ?? item).querySelector("input").focus()
    refresh()
  })
  items.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.localName !== "input") return
    event.preventDefault()
    if (!event.target.value.trim()) return
    const next = event.target.closest("[data-part=item]").nextElementSibling
    if (next) next.querySelector("input").focus()
    else if (!add.disabled) append()
  })
  refresh()
}

function clear(item) {
  const input = item.querySelector("input")
  input.value = ""
  input.removeAttribute("value")
  input.removeAttribute("list")
  input.removeAttribute("title")
  item.querySelector("datalist")?.remove()
  item.querySelector("[data-part=remove]").setAttribute("aria-label", gettext("Remove"))
}
