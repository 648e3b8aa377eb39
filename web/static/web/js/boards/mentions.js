// Autocomplete for @mentions: project members by name or username.
import { Typeahead } from "../core/typeahead.js"
import { createElement } from "../core/elements.js"
import { gettext } from "../core/texts.js"

const MENTION = /(?:^|[^\w@.+-])@([\w.+-]*)$/

let number = 0

export default function mentions(textarea) {
  const list = createElement("ul", "mentions__list card")
  list.id = `mentions-${(number += 1)}`
  list.role = "listbox"
  list.hidden = true
  list.setAttribute("aria-label", gettext("Members"))
  textarea.after(list)
  textarea.setAttribute("aria-controls", list.id)
  textarea.setAttribute("aria-autocomplete", "list")

  let active = 0
  const typeahead = new Typeahead(({ readers }) => draw(readers))
  const begun = () => MENTION.exec(textarea.value.slice(0, textarea.selectionStart))?.[1]

  textarea.addEventListener("input", () => {
    const text = begun()
    if (text === undefined) return close()
    typeahead.requestSoon(textarea.dataset.readersUrl, { q: text })
  })
  textarea.addEventListener("blur", () => setTimeout(close, 200))
  textarea.addEventListener("keydown", onKey, { capture: true })
  list.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("[role=option]")
    if (!option) return
    event.preventDefault()
    insert(option)
  })

  function draw(readers) {
    if (begun() === undefined || !readers.length) return close()
    active = 0
    list.replaceChildren(
      ...readers.map(({ username, name }, place) => {
        const option = createElement("li", "mentions__option", `@${username}`)
        option.id = `${list.id}-${place}`
        option.role = "option"
        option.dataset.username = username
        if (name !== username) option.append(createElement("span", "muted", ` ${name}`))
        return option
      }),
    )
    list.hidden = false
    mark()
  }

  function mark() {
    for (const [place, option] of [...list.children].entries()) option.setAttribute("aria-selected", place === active)
    textarea.setAttribute("aria-activedescendant", list.children[active]?.id ?? "")
  }

  function onKey(event) {
    if (list.hidden || event.ctrlKey || event.metaKey) return
    const moves = { ArrowDown: 1, ArrowUp: -1 }
    if (event.key in moves) {
      active = (active + moves[event.key] + list.children.length) % list.children.length
      mark()
    } else if (event.key === "Enter" || event.key === "Tab") insert(list.children[active])
    else if (event.key === "Escape") close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  function insert(option) {
    const end = textarea.selectionStart
    const begin = end - begun().length
    textarea.setRangeText(`${option.dataset.username} `, begin, end, "end")
    textarea.dispatchEvent(new Event("input", { bubbles: true }))
    close()
    textarea.focus()
  }

  function close() {
    list.hidden = true
    textarea.removeAttribute("aria-activedescendant")
  }
}
