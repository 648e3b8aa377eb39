// Index of the chart sections of a page: it jumps to a section, marks the one in view and follows the
// search. Beside the charts, or as a menu above them where the window is narrow.
//
// It mirrors the section elements, which other scripts add, hide and count. A link to a section is
// the page's URL with its name as fragment. "section-open" on a section announces that the index
// opened it.
import cutName from "./cut_name.js"
import { SectionInView } from "./section_in_view.js"
import { createElement, setText } from "../core/elements.js"
import { moveFocus } from "../core/menu.js"
import { RunNames, nameParts } from "../core/run_names.js"
import { gettext, ngettext } from "../core/texts.js"

// Mirrors web/pages/charts/cards.py.
const MIN_SECTIONS = 6
const FRAGMENT = "#section="

export default function sectionIndex(nav) {
  new SectionIndex(nav)
}

class SectionIndex {
  #links = new Map() // section → its link
  #names = new RunNames()
  #current = null
  #requested = nameIn(location.hash)

  constructor(nav) {
    this.nav = nav
    this.around = nav.parentElement
    this.button = this.#part("index-button")
    this.list = this.#part("index-list")
    this.view = new SectionInView(this.around, (section) => this.#mark(section))
    this.changes = new MutationObserver(() => this.#look())
    this.changes.observe(this.around, { childList: true })
    this.#listen()
    this.#look()
  }

  #part(name) {
    return this.nav.querySelector(`[data-part="${name}"]`)
  }

  #listen() {
    this.button.addEventListener("click", () => this.#show(!this.#isShown))
    this.list.addEventListener("click", (event) => {
      const link = event.target.closest("a")
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      history.replaceState(history.state, "", link.href)
      this.#show(false)
      // A click by keyboard continues in the section.
      this.#jump(nameIn(link.hash), { focuses: event.detail === 0 })
    })
    this.nav.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#isShown) {
        event.preventDefault()
        this.#show(false)
        this.button.focus()
      } else if (this.list.contains(event.target)) moveFocus(event, this.#shownLinks)
    })
    document.addEventListener("pointerdown", ({ target }) => {
      if (!this.nav.contains(target)) this.#show(false)
    })
    window.addEventListener("hashchange", () => this.#jump(nameIn(location.hash)))
  }

  // Next to the runs list it loads after the page.
  get #container() {
    return this.around.querySelector(':scope > [data-part="sections"]')
  }

  get #isShown() {
    return this.button.getAttribute("aria-expanded") === "true"
  }

  // Shows or hides the menu of narrow windows.
  #show(isShown) {
    if (isShown === this.#isShown) return
    this.button.setAttribute("aria-expanded", isShown)
    if (isShown) this.#links.get(this.#current)?.focus()
  }

  get #shownLinks() {
    return [...this.#links].filter(([section]) => !section.hidden).map(([, link]) => link)
  }

  #look() {
    const sections = [...(this.#container?.children ?? [])].filter((each) => each.dataset.part === "section" && hasCharts(each))
    this.nav.hidden = sections.length < MIN_SECTIONS
    if (!isSame(sections, [...this.#links.keys()])) this.#fill(sections)
    for (const [section, link] of this.#links) {
      const count = Number(countOf(section).textContent)
      link.parentElement.hidden = section.hidden
      setText(link.lastElementChild, String(count))
      link.setAttribute("aria-label", ngettext("%(name)s: %(count)s chart", "%(name)s: %(count)s charts", count, { name: titleOf(section), count }))
    }
    this.#reflect()
    this.#jumpToRequested()
  }

  #fill(sections) {
    this.#names = new RunNames(sections.map(titleOf))
    this.#links = new Map(sections.map((section) => [section, newLink(section, this.#names)]))
    this.list.replaceChildren(...[...this.#links.values()].map(inItem))
    for (const name of this.list.querySelectorAll(".cut")) cutName(name)
    this.changes.disconnect()
    this.changes.observe(this.around, { childList: true })
    this.changes.observe(this.#container, { childList: true })
    for (const section of sections) {
      this.changes.observe(section, { attributeFilter: ["hidden"] })
      this.changes.observe(section.querySelector("summary"), { childList: true, subtree: true })
    }
    this.view.watch(sections)
  }

  #mark(section) {
    this.#current = section
    this.#reflect()
    const link = this.#links.get(section)
    // scrollIntoView would also scroll the page.
    const { offsetTop, offsetHeight } = link
    const { scrollTop, clientHeight } = this.list
    if (offsetTop < scrollTop) this.list.scrollTop = offsetTop - offsetHeight
    else if (offsetTop + offsetHeight > scrollTop + clientHeight) this.list.scrollTop = offsetTop + 2 * offsetHeight - clientHeight
  }

  #reflect() {
    const shown = this.#shownLinks
    const current = shown.includes(this.#links.get(this.#current)) ? this.#links.get(this.#current) : null
    for (const link of this.#links.values()) {
      link === current ? link.setAttribute("aria-current", "location") : link.removeAttribute("aria-current")
      // The list is one stop of the Tab key.
      link.tabIndex = link === (current ?? shown[0]) ? 0 : -1
    }
    this.#name(current ? titleOf(this.#current) : gettext("Sections"))
    const values = { place: shown.indexOf(current) + 1, count: shown.length }
    setText(this.#part("index-place"), current ? gettext("%(place)s of %(count)s", values) : String(shown.length))
  }

  #name(title) {
    const name = this.#part("index-current")
    if (name.textContent === title) return
    name.replaceChildren(...nameParts(this.#names, title))
    cutName(name)
  }

  // Sections may load after the page.
  #jumpToRequested() {
    if (this.#requested !== null && this.#jump(this.#requested)) this.#requested = null
  }

  #jump(name, { focuses = false } = {}) {
    const section = [...this.#links.keys()].find((each) => each.dataset.section === name)
    if (!section || section.hidden) return false
    section.open = true
    section.dispatchEvent(new CustomEvent("section-open", { bubbles: true }))
    this.view.goTo(section)
    if (focuses) section.querySelector("summary").focus({ preventScroll: true })
    return true
  }
}

// Whether a section has charts, also if none of them matches the search.
function hasCharts(section) {
  return !section.hidden || (section.dataset.rest ?? "[]") !== "[]" || section.querySelector(".chart") !== null
}

function newLink(section, names) {
  const link = createElement("a", "section-index__link")
  link.href = fragmentOf(section)
  link.title = titleOf(section)
  const name = createElement("bdi", "chosen" in section.dataset ? "cut" : "cut mono")
  name.append(...nameParts(names, titleOf(section)))
  link.append(name, createElement("span", "section-index__count"))
  return link
}

function inItem(link) {
  const item = createElement("li")
  item.append(link)
  return item
}

const titleOf = (section) => section.querySelector("summary").firstElementChild.textContent
const countOf = (section) => section.querySelector('[data-part="section-count"]')
const isSame = (some, others) => some.length === others.length && some.every((each, place) => each === others[place])

// Slashes stay readable.
function fragmentOf(section) {
  return FRAGMENT + encodeURIComponent(section.dataset.section).replaceAll("%2F", "/")
}

// Returns the name of the section in a fragment, or null.
function nameIn(hash) {
  if (!hash.startsWith(FRAGMENT)) return null
  try {
    return decodeURIComponent(hash.slice(FRAGMENT.length))
  } catch {
    return null
  }
}
