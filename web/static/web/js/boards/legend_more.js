// Adds a button to a legend of more than two rows: it opens the legend, and its text counts the
// hidden entries.
import { createElement } from "../core/elements.js"
import { gettext } from "../core/texts.js"

const opened = new WeakSet()
const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)))

// Called again after a morph, which removes the button.
export default function legendMore(legend) {
  observer.unobserve(legend)
  observer.observe(legend)
}

function fit(legend) {
  const before = legend.querySelector(".widget-legend__more")
  const hadFocus = before?.contains(document.activeElement)
  before?.remove()
  addButton(legend)
  if (hadFocus) legend.querySelector(".widget-legend__more > button")?.focus()
}

function addButton(legend) {
  const isOpen = opened.has(legend)
  legend.classList.toggle("widget-legend--open", isOpen)
  const entries = Array.from(legend.children)
  const below = Number.parseFloat(getComputedStyle(legend).getPropertyValue("--legend-rows"))
  const isBelow = (entry) => entry.offsetTop >= below
  if (!entries.some(isBelow)) return
  const item = createElement("li", "widget-legend__more")
  const button = createElement("button", "button button--quiet")
  button.type = "button"
  button.ariaExpanded = String(isOpen)
  button.addEventListener("click", () => {
    if (isOpen) opened.delete(legend)
    else opened.add(legend)
    fit(legend)
  })
  item.append(button)
  if (isOpen) {
    button.textContent = gettext("Show less")
    return legend.append(item)
  }
  // The button takes the place of entries until it is in the second row.
  for (let count = entries.findIndex(isBelow); count > 0; count -= 1) {
    button.textContent = gettext("+%(count)s more", { count: entries.length - count })
    entries[count].before(item)
    if (!isBelow(item)) return
  }
}
