// Whether shortcuts without Ctrl or Cmd are enabled. Users of speech input can turn them off (WCAG
// 2.1.4); stored per browser.
const STORED = "single-keys"

export function areSingleKeysOn() {
  return localStorage.getItem(STORED) !== "off"
}

export function switchSingleKeys(isOn) {
  localStorage.setItem(STORED, isOn ? "on" : "off")
  document.dispatchEvent(new CustomEvent("singlekeyschange"))
}
