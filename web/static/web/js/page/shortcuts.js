// Handles shortcuts and fills the dialog opened by "?". Keys without Ctrl or Cmd can be turned off.
import { KeySequence, keyCaps, needsModifier } from "../core/key_sequence.js"
import { createElement as element } from "../core/elements.js"
import { IS_MAC } from "../core/platform.js"
import { shortcuts } from "./shortcut_list.js"
import { areSingleKeysOn, switchSingleKeys } from "../core/single_keys.js"

const HOLDING = "dialog[open]:not(#palette, #shortcuts)"
const TYPED_INTO =
  "input:not([type=checkbox], [type=radio], [type=range], [type=button], [type=submit], [type=color]), textarea, select, [contenteditable], [role=textbox], [role=combobox]"

export default function listen(dialog) {
  const sequence = new KeySequence()
  const box = dialog.querySelector("[data-part=switch]")

  document.addEventListener("keydown", (event) => {
    // Opening another dialog would discard its unsaved content or one-time link.
    if (event.defaultPrevented || document.querySelector(HOLDING)) return
    const isUsed = !isFree(event)
    const areSingleOn = areSingleKeysOn() && !isUsed
    const may = shortcuts().filter((shortcut) =>
      needsModifier(shortcut) ? !(shortcut.isTypedToo && isUsed) : areSingleOn)
    const found = sequence.press(event, may, event.timeStamp)
    if (!found) return
    event.preventDefault()
    found.run()
  })

  dialog.addEventListener("dialog-open", () => {
    box.checked = areSingleKeysOn()
    dialog.querySelector("[data-part=groups]").replaceChildren(...groups(shortcuts()))
  })
  box.addEventListener("change", () => switchSingleKeys(box.checked))
}

// Whether no text field or dialog uses the key.
function isFree(event) {
  const [target] = event.composedPath()
  const isTyping = target instanceof Element && target.closest(TYPED_INTO)
  return !isTyping && !document.querySelector("dialog[open]")
}

function groups(list) {
  const names = [...new Set(list.map((shortcut) => shortcut.group))]
  return names.map((name) => {
    const section = element("section", "shortcuts__group")
    const table = element("dl", "shortcuts__list")
    for (const { keys, label } of list.filter((shortcut) => shortcut.group === name)) {
      const term = element("dt", "")
      term.append(...keyCaps(keys, IS_MAC).flatMap((key) => [element("kbd", "", key), " "]))
      table.append(term, element("dd", "", label))
    }
    section.append(element("h3", "", name), table)
    return section
  })
}
