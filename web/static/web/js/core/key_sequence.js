// Which shortcut a key completes: a key alone, one after another ("g p"), or one with
// Ctrl or Cmd ("Mod+k"). Functions of what was pressed; nothing here looks at a page.

// A first key waits this long for its second.
const PATIENCE_MS = 1_200

const ALONE = ["Control", "Shift", "Alt", "Meta", "AltGraph"]

export class KeySequence {
  first = ""
  pressedAt = 0

  // Returns the shortcut, or null: none, or not yet.
  press(event, shortcuts, now) {
    if (ALONE.includes(event.key)) return null
    const key = named(event)
    const isSecond = this.first && now - this.pressedAt < PATIENCE_MS
    const pressed = isSecond ? `${this.first} ${key}` : key
    this.first = ""
    const found = shortcuts.find((shortcut) => shortcut.keys === pressed)
    if (found) return found
    if (shortcuts.some((shortcut) => shortcut.keys.startsWith(`${pressed} `))) {
      this.first = pressed
      this.pressedAt = now
    }
    return null
  }
}

// Whether the keys do nothing unless Ctrl or Cmd is held.
export function needsModifier(shortcut) {
  return shortcut.keys.startsWith("Mod+")
}

// As keys are drawn: "Mod+k" is ⌘ K on a Mac and Ctrl K elsewhere.
export function keyCaps(keys, isMac) {
  return keys
    .replace("Mod+", isMac ? "⌘ " : "Ctrl ")
    .replace("Shift+", "Shift ")
    .split(" ")
    .map((key) => (/^[a-z]$/.test(key) && keys.startsWith("Mod+") ? key.toUpperCase() : key))
}

function named({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  // Many keyboards need AltGr, which Windows calls Ctrl and Alt, or Option for a "[".
  if (altKey) return /^[^\p{L}\p{N}\s]$/u.test(key) ? key : ""
  return ctrlKey || metaKey ? `Mod+${shiftKey ? "Shift+" : ""}${key.toLowerCase()}` : key
}
