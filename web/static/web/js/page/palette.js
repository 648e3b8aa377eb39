// Command palette: a text field with a list of pages and actions. The field keeps focus and
// references the active option; the server searches by name.
import { copyText } from "../core/clipboard.js"
import { openDialog } from "../core/dialogs.js"
import { icon, createElement } from "../core/elements.js"
import { mark } from "../core/active_option.js"
import { GROUPS, grouped, matching, readRecent, recentPlaces, remembered } from "./palette_entries.js"
import { IS_MAC } from "../core/platform.js"
import { skeleton } from "../core/skeletons.js"
import { toast } from "../core/toasts.js"
import { gettext, ngettext } from "../core/texts.js"

const TYPING_MS = 120
const ICONS = {
  recent: "history",
  tab: "chevron-right",
  page: "chevron-right",
  project: "folder",
  run: "flask-conical",
  ladder: "layers",
  dashboard: "layout-dashboard",
  report: "file-text",
  action: "settings",
}

export default function palette(dialog) {
  new Palette(dialog).start()
}

class Palette {
  found = []
  options = []
  active = 0
  isWaiting = false
  // Enter pressed before the results arrived.
  entered = null

  constructor(dialog) {
    this.dialog = dialog
    this.input = dialog.querySelector("input")
    this.list = dialog.querySelector("[role=listbox]")
    this.part = (name) => dialog.querySelector(`[data-part=${name}]`)
    this.stored = `recent-places-${dialog.dataset.reader}`
  }

  start() {
    this.remember()
    if (IS_MAC) document.querySelector(".palette__open kbd").textContent = "⌘ K"
    this.dialog.addEventListener("dialog-open", () => this.open())
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close()
    })
    this.input.addEventListener("input", () => this.searchSoon())
    this.input.addEventListener("keydown", (event) => this.press(event))
    // Keeps focus in the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault())
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]")
      if (option) this.take(Number(option.dataset.place), event)
    })
    // Clears the recent pages on sign-out.
    signOut()?.addEventListener("submit", () => localStorage.removeItem(this.stored))
  }

  open() {
    this.input.value = ""
    this.found = []
    this.entered = null
    this.search()
  }

  searchSoon() {
    clearTimeout(this.typing)
    this.entered = null
    this.typing = setTimeout(() => this.search(), TYPING_MS)
    this.draw()
  }

  async search() {
    clearTimeout(this.typing)
    this.pending?.abort()
    this.pending = new AbortController()
    const { signal } = this.pending
    this.isWaiting = true
    this.draw()
    try {
      const url = new URL(this.dialog.dataset.placesUrl, location)
      url.searchParams.set("q", this.input.value.trim())
      const response = await fetch(url, { signal, headers: { Accept: "application/json" } })
      this.found = response.ok ? (await response.json()).places : []
    } catch (error) {
      if (error.name === "AbortError") return
      this.found = []
    }
    this.isWaiting = false
    this.draw()
    if (this.entered) this.take(0, this.entered)
  }

  get offered() {
    const text = this.input.value.trim()
    const here = location.pathname
    const pages = [...recentPlaces(this.recent, here), ...tabs(), ...actions()]
    // The server's results may be for a shorter text.
    return [...matching(pages, text), ...matching(this.found, text)]
  }

  draw() {
    const groups = grouped(this.offered)
    this.options = groups.flatMap(([, places]) => places)
    this.active = Math.min(this.active, Math.max(this.options.length - 1, 0))
    if (this.input.value !== this.drawnFor) this.active = 0
    this.drawnFor = this.input.value

    const elements = groups.map(([kind, places]) => this.group(kind, places))
    if (this.isWaiting && this.input.value) elements.push(skeleton(3))
    this.list.replaceChildren(...elements)
    this.list.setAttribute("aria-busy", String(this.isWaiting))
    const isEmpty = !this.options.length && !this.isWaiting
    this.part("none").hidden = !isEmpty
    this.list.hidden = isEmpty
    this.input.setAttribute("aria-expanded", String(!isEmpty))
    if (!this.isWaiting) this.part("found").textContent = countText(this.options.length)
    this.mark()
  }

  group(kind, places) {
    const group = createElement("div", "palette__group")
    const title = createElement("div", "palette__title", GROUPS[kind])
    title.id = `palette-${kind}`
    group.role = "group"
    group.setAttribute("aria-labelledby", title.id)
    title.role = "presentation"
    group.append(title, ...places.map((place) => this.option(place)))
    return group
  }

  option(place) {
    const position = this.options.indexOf(place)
    const option = createElement("div", "palette__option")
    option.role = "option"
    option.id = `palette-option-${position}`
    option.dataset.place = position
    const label = createElement("bdi", "palette__label clip", place.label)
    option.append(icon(ICONS[place.kind], "icon"), label)
    if (place.hint) option.append(createElement("bdi", "palette__hint clip", place.hint))
    return option
  }

  mark() {
    mark(this.input, this.list, this.active)
  }

  press(event) {
    const last = this.options.length - 1
    const moves = {
      ArrowDown: this.active >= last ? 0 : this.active + 1,
      ArrowUp: this.active <= 0 ? last : this.active - 1,
      PageDown: Math.min(this.active + 8, last),
      PageUp: Math.max(this.active - 8, 0),
    }
    if (Object.hasOwn(moves, event.key)) {
      this.active = Math.max(moves[event.key], 0)
      this.mark()
    } else if (event.key === "Enter" && !event.isComposing) {
      this.enter(event)
    } else {
      return
    }
    event.preventDefault()
  }

  // Opens the first result once it arrives.
  enter(event) {
    if (this.options.length) return this.take(this.active, event)
    this.entered = event
    this.search()
  }

  take(position, { ctrlKey, metaKey }) {
    this.entered = null
    const place = this.options[position]
    if (!place) return
    // Cancels pending searches, which would fail after signing out.
    clearTimeout(this.typing)
    this.pending?.abort()
    this.dialog.close()
    if (place.act) return place.act()
    if (ctrlKey || metaKey) window.open(place.url, "_blank", "noopener")
    else location.assign(place.url)
  }

  get recent() {
    return readRecent(localStorage.getItem(this.stored))
  }

  // Remembers the run or project of this page.
  remember() {
    const { run, runUrl, project, projectUrl } = this.dialog.dataset
    if (!project) return
    const place = run
      ? { label: run, hint: project, url: runUrl }
      : { label: project, hint: gettext("project"), url: projectUrl }
    localStorage.setItem(this.stored, JSON.stringify(remembered(this.recent, place)))
  }
}

function tabs() {
  return [...document.querySelectorAll(".tabs[data-behaviour~=tabs] a")]
    .filter((link) => !link.hasAttribute("aria-current"))
    .map((link) => ({
      kind: "tab",
      label: link.textContent.trim(),
      hint: gettext("%(kind)s page", { kind: link.closest("nav").ariaLabel.toLowerCase() }),
      url: link.pathname + link.search,
    }))
}

function actions() {
  return [
    { kind: "action", label: gettext("Change theme"), hint: gettext("light, dark or system"), act: () => document.querySelector("[data-behaviour~=theme-switch]").click() },
    { kind: "action", label: gettext("Copy link to this page"), act: copyLink },
    { kind: "action", label: gettext("Keyboard shortcuts"), hint: "?", act: () => openDialog("shortcuts") },
    { kind: "action", label: gettext("Sign out"), act: () => signOut().requestSubmit() },
  ]
}

async function copyLink() {
  toast((await copyText(location.href)) ? gettext("Link copied.") : gettext("The browser blocked copying. Copy the URL from the address bar."))
}

function signOut() {
  return document.querySelector("[data-part=sign-out]")
}

function countText(count) {
  return ngettext("%(count)s result", "%(count)s results", count)
}

