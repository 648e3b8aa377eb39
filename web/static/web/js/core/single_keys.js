// Whether keys do something without Ctrl or Cmd. People who speak to their computer, or
// whose hands slip, switch that off; this browser remembers it.
const STORED = "single-keys"

export function areSingleKeysOn() {
  return localStorage.getItem(STORED) !== "off"
}

export function switchSingleKeys(isOn) {
  localStorage.setItem(STORED, isOn ? "on" : "off")
  document.dispatchEvent(new CustomEvent("singlekeyschange"))
}
