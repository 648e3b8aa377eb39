// Context menu of a column header.
import { icon, createElement } from "../core/elements.js"
import { moveFocus } from "../core/menu.js"
import { canGroup } from "./run_columns.js"
import { gettext } from "../core/texts.js"

export class ColumnMenu {
  constructor(element, { onChoose }) {
    this.element = element
    this.onChoose = onChoose
    element.addEventListener("click", (event) => this.#choose(event.target.closest("button")))
    element.addEventListener("keydown", (event) => this.#press(event))
    // A light-dismiss popover would close when the right mouse button is released.
    document.addEventListener("pointerdown", (event) => element.contains(event.target) || this.#close())
  }

  // `back` gets focus when the menu closes.
  open(head, column, back) {
    this.key = column.key
    this.back = back
    this.element.replaceChildren(...itemsOf(column).map(item))
    this.element.showPopover()
    const { left, bottom } = head.getBoundingClientRect()
    const widest = document.documentElement.clientWidth - this.element.offsetWidth - 8
    this.element.style.left = `${Math.max(8, Math.min(left, widest))}px`
    this.element.style.top = `${bottom + 2}px`
    this.element.querySelector("button").focus()
  }

  #choose(button) {
    if (!button) return
    this.#close()
    this.onChoose(button.dataset.what, this.key)
  }

  #press(event) {
    if (moveFocus(event, [...this.element.querySelectorAll("button")])) return
    if (event.key !== "Tab" && event.key !== "Escape") return
    this.#close()
    event.preventDefault()
  }

  #close() {
    if (!this.element.matches(":popover-open")) return
    const hadFocus = this.element.contains(document.activeElement)
    this.element.hidePopover()
    if (hadFocus) this.back.focus({ preventScroll: true })
  }
}

function itemsOf({ key, isPinned }) {
  return [
    { what: "ascending", label: gettext("Sort ascending"), sign: "arrow-up" },
    { what: "descending", label: gettext("Sort descending"), sign: "arrow-down" },
    { what: "then", label: gettext("Add to sort order"), sign: "plus", keys: "Shift Enter" },
    { what: "pin", label: isPinned ? gettext("Unpin") : gettext("Pin left"), sign: "pin", keys: "p" },
    { what: "left", label: gettext("Move left"), sign: "chevron-right", keys: "Alt ←" },
    { what: "right", label: gettext("Move right"), sign: "chevron-right", keys: "Alt →" },
    ...(canGroup(key) ? [{ what: "group", label: gettext("Group by this column"), sign: "list-tree", keys: "g" }] : []),
    { what: "remove", label: gettext("Remove column"), sign: "x", keys: "Delete" },
  ]
}

function item({ what, label, sign, keys }) {
  const button = createElement("button", "menu__item")
  button.type = "button"
  button.role = "menuitem"
  button.dataset.what = what
  button.tabIndex = -1
  button.append(icon(sign), createElement("span", "", label), createElement("kbd", "", keys))
  return button
}
