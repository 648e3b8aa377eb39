// Matches keys to shortcuts: single keys, sequences ("g p"), and keys with Ctrl or Cmd ("Mod+k").
// Pure; no access to the page.

// Timeout for the second key of a sequence.
const TIMEOUT_MS = 1_200

const ALONE = ["Control", "Shift", "Alt", "Meta", "AltGraph"]

export class KeySequence {
  first = ""
  pressedAt = 0

  // Returns the completed shortcut, or null.
  press(event, shortcuts, now) {
    if (ALONE.includes(event.key)) return null
    const key = named(event)
    const isSecond = this.first && now - this.pressedAt < TIMEOUT_MS
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

// Whether the shortcut needs Ctrl or Cmd.
export function needsModifier(shortcut) {
  return shortcut.keys.startsWith("Mod+")
}

// Display of keys: "Mod+k" is ⌘ K on a Mac and Ctrl K elsewhere.
export function keyCaps(keys, isMac) {
  return keys
    .replace("Mod+", isMac ? "⌘ " : "Ctrl ")
    .replace("Shift+", "Shift ")
    .split(" ")
    .map((key) => (/^[a-z]$/.test(key) && keys.startsWith("Mod+") ? key.toUpperCase() : key))
}

function named({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  // Many keyboard layouts need AltGr (Ctrl+Alt on Windows) or Option to type "[".
  if (altKey) return /^[^\p{L}\p{N}\s]$/u.test(key) ? key : ""
  return ctrlKey || metaKey ? `Mod+${shiftKey ? "Shift+" : ""}${key.toLowerCase()}` : key
}
