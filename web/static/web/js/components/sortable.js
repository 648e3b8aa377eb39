// Sortable list: drag the handle, or focus it and press an arrow key, Home or End. The form submits
// the order.
//
// Items hold [data-part="handle"] and a number in [data-part="number"].

import { trackPointer } from "../core/drag.js"
import { gettext } from "../core/texts.js"

export default function sortable(list) {
  for (const handle of list.querySelectorAll('[data-part="handle"]')) {
    handle.hidden = false
    handle.addEventListener("keydown", (event) => byKey(list, handle, event))
    handle.addEventListener("pointerdown", (event) => drag(list, handle, event))
  }
}

function byKey(list, handle, event) {
  const item = handle.closest("li")
  const items = [...list.children]
  const from = items.indexOf(item)
  const to = { ArrowUp: from - 1, ArrowDown: from + 1, Home: 0, End: items.length - 1 }[event.key]
  if (to === undefined) return
  event.preventDefault()
  moveTo(list, item, Math.max(0, Math.min(items.length - 1, to)))
  handle.focus()
}

function drag(list, handle, event) {
  if (event.button) return
  event.preventDefault()
  const item = handle.closest("li")
  item.dataset.dragged = "true"

  const move = ({ clientY }) => {
    const others = [...list.children].filter((other) => other !== item)
    const to = others.filter((other) => clientY > middle(other)).length
    if ([...list.children].indexOf(item) !== to) moveTo(list, item, to)
  }
  trackPointer(event, { move, end: () => delete item.dataset.dragged })
}

function middle(element) {
  const { top, height } = element.getBoundingClientRect()
  return top + height / 2
}

function moveTo(list, item, to) {
  const others = [...list.children].filter((other) => other !== item)
  list.insertBefore(item, others[to] ?? null)
  const items = [...list.children]
  items.forEach((each, index) => {
    each.querySelector('[data-part="number"]').textContent = index
    setDisabled(each, "up:", index === 0)
    setDisabled(each, "down:", index === items.length - 1)
  })
  const status = document.getElementById(list.dataset.status)
  if (status) status.textContent = gettext("%(name)s: position %(place)s of %(all)s", { name: item.dataset.name, place: to, all: items.length - 1 })
}

function setDisabled(item, start, isDisabled) {
  const button = item.querySelector(`button[value^="${start}"]`)
  if (button) button.disabled = isDisabled
}
