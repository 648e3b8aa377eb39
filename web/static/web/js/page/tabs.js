// Assigns shortcut keys to tabs (their number by default) and scrolls to the current one.
// js/page/shortcut_list.js reads the keys.
import { areSingleKeysOn } from "../core/single_keys.js"
import { gettext } from "../core/texts.js"

const MAX_KEYS = 9
// Tabs within a page take the keys over from the page's tabs.
const INNER = ".tabs--inner[data-behaviour~=tabs]"

export default function openTabs(tabs) {
  const hasKeys = tabs.matches(INNER) || !document.querySelector(INNER)
  const hasKey = (link, place) => hasKeys && (place < MAX_KEYS || link.hasAttribute("aria-keyshortcuts"))
  const links = [...tabs.querySelectorAll("a")].filter(hasKey)
  for (const [place, link] of links.entries()) {
    link.dataset.key = link.getAttribute("aria-keyshortcuts") ?? String(place + 1)
  }
  announce(links)
  document.addEventListener("singlekeyschange", () => announce(links))

  const open = tabs.querySelector("[aria-current]")
  // scrollIntoView would also scroll the page.
  if (open) tabs.scrollLeft = open.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2
}

// Announces keys only while single-key shortcuts are enabled.
function announce(links) {
  const isOn = areSingleKeysOn()
  for (const link of links) {
    if (isOn) link.setAttribute("aria-keyshortcuts", link.dataset.key)
    else link.removeAttribute("aria-keyshortcuts")
    link.title = isOn ? gettext("Key %(key)s", { key: link.dataset.key }) : ""
  }
}
