// Gives each tab its key, the number of its place unless it names one itself, and shows
// which one is open where they do not fit side by side. js/page/shortcut_list.js knows the keys.
import { areSingleKeysOn } from "../core/single_keys.js"
import { gettext } from "../core/texts.js"

const MAX_KEYS = 9
// Tabs within a page: where there are some, the keys are theirs.
const INNER = ".tabs--inner[data-behaviour~=tabs]"

export default function openTabs(tabs) {
  const hasKeys = tabs.matches(INNER) || !document.querySelector(INNER)
  const links = hasKeys ? [...tabs.querySelectorAll("a")].slice(0, MAX_KEYS) : []
  for (const [place, link] of links.entries()) {
    link.dataset.key = link.getAttribute("aria-keyshortcuts") ?? String(place + 1)
  }
  announce(links)
  document.addEventListener("singlekeyschange", () => announce(links))

  const open = tabs.querySelector("[aria-current]")
  // Not scrollIntoView: the page itself stays where it is.
  if (open) tabs.scrollLeft = open.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2
}

// What a tab says of its key is true only while the key does something.
function announce(links) {
  const isOn = areSingleKeysOn()
  for (const link of links) {
    if (isOn) link.setAttribute("aria-keyshortcuts", link.dataset.key)
    else link.removeAttribute("aria-keyshortcuts")
    link.title = isOn ? gettext("Key %(key)s", { key: link.dataset.key }) : ""
  }
}
