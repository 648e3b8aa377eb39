// The charts next to the runs list. The server sends the list of charts; existing ones stay in
// place and only update their lines.
import { connect } from "../core/connect.js"
import { withParameters } from "../core/page_address.js"
import { setText } from "../core/elements.js"
import { restOf } from "./more_charts.js"
import { errorOf } from "../charts/refusal.js"
import { gettext } from "../core/texts.js"

const TYPING_MS = 250
// Live runs may have started new series.
const REFRESH_MS = 15_000

export class ChartsBesideRuns {
  #requested = null
  #requestedAt = 0
  #folds = new Map()

  // Callbacks: `onOption` gets a changed chart option; `onShown` the number of runs and, as JSON, the
  // groups by slot, or ""; `onLine` the slot of the run under the pointer, or null. `zoom` returns
  // the shared zoom, `onZoom` gets a new one. `onBack` gets the URL parameters restored by undo, and
  // `optionValue` returns the current value of an option.
  constructor(element, { onOption, onShown, onLine, zoom, onZoom, onBack, optionValue }) {
    this.element = element
    this.form = element.querySelector("form")
    this.onShown = onShown
    this.zoom = zoom
    this.onZoom = onZoom
    this.#listen(onOption)
    this.#listenToZoom()
    element.addEventListener("charts-arranged", ({ detail }) => onOption("layout", detail ?? ""))
    element.addEventListener("charts-back", (event) => {
      event.preventDefault()
      this.#folds.clear()
      onBack(event.detail)
      this.#write(optionValue)
    })
    element.addEventListener("run-pointed", ({ detail }) => onLine(detail))
  }

  #listen(onOption) {
    const text = this.form.elements.text
    let typing
    text.addEventListener("input", () => {
      clearTimeout(typing)
      typing = setTimeout(() => onOption("text", text.value.trim()), TYPING_MS)
    })
    this.form.addEventListener("submit", (event) => event.preventDefault())
    this.form.addEventListener("change", ({ target }) => {
      const value = target.type === "checkbox" ? (target.checked ? target.value : "") : target.value.trim()
      if (target !== text) onOption(target.name, value === "0" ? "" : value)
      this.#reflect()
    })
    this.form.addEventListener("click", ({ target }) => {
      const button = target.closest("button[name=axis]")
      if (!button) return
      const { axis, over } = this.#axes
      over.value = button.dataset.over ?? ""
      if (!over.value) axis.dataset.axis = button.value
      this.#reflect()
      onOption("over", over.value)
      if (!over.value) onOption("axis", button === axis.firstElementChild ? "" : button.value)
    })
    this.element.addEventListener("section-open", ({ target }) => this.#folds.set(target.dataset.key, true))
    this.element.addEventListener("click", ({ target }) => {
      const summary = target.closest(".charts__section > summary")
      // The toggle happens after this event.
      if (summary) this.#folds.set(summary.parentElement.dataset.key, !summary.parentElement.open)
      if (!target.closest("[data-part=clear-text]")) return
      text.value = ""
      onOption("text", "")
      text.focus()
    })
  }

  #listenToZoom() {
    this.#reflectZoom()
    this.#unzoom.addEventListener("click", () => this.#zoomTo(null))
    this.element.addEventListener("chart-zoom", (event) => {
      event.preventDefault()
      this.#zoomTo(event.detail)
    })
  }

  // The list of charts does not change.
  #zoomTo(range) {
    this.onZoom(range)
    this.#reflectZoom()
    const sections = this.#sections
    if (!sections) return
    sections.dataset.chartQuery = withParameters(sections.dataset.chartQuery, this.zoom())
    for (const chart of sections.querySelectorAll(".chart")) chart.dispatchEvent(new CustomEvent("chart-refresh"))
  }

  #reflectZoom() {
    this.#unzoom.hidden = this.zoom().low === null
  }

  get #unzoom() {
    return this.form.querySelector('[data-part="unzoom"]')
  }

  get #axes() {
    return { axis: this.form.querySelector('[data-part="axes"]'), over: this.form.elements.over }
  }

  // Updates the form from the state.
  #write(optionValue) {
    for (const field of this.form.elements) {
      if (!field.name || field.type === "button") continue
      const value = optionValue(field.name)
      if (field.type === "checkbox") field.checked = value === field.value
      else field.value = value || (field.type === "range" ? "0" : "")
      if (field.type === "range") field.nextElementSibling.value = Number(field.value).toFixed(2)
    }
    this.#axes.axis.dataset.axis = optionValue("axis") || "step"
    this.#reflect()
    this.#reflectZoom()
  }

  // Marks the active x-axis; a series name means a custom axis.
  #reflect() {
    const { axis, over } = this.#axes
    const series = over.value.trim()
    for (const each of axis.children) {
      const isThis = series ? each.dataset.over === series : each.value === axis.dataset.axis
      each.setAttribute("aria-pressed", String(isThis))
    }
  }

  // Not all runs have a series with epochs.
  #offerEpoch(path) {
    const button = this.form.querySelector('[data-part="epoch"]')
    button.hidden = !path
    button.title = button.dataset.over = path
    this.#reflect()
  }

  get #indexed() {
    return this.element.querySelector('[data-part="indexed"]')
  }

  get #sections() {
    return this.element.querySelector('[data-part="sections"]')
  }

  // Loads the charts of these runs, unless they are already shown.
  async show(query) {
    const isLive = this.#sections?.querySelector('[data-live="true"]') || !this.#sections?.querySelector(".chart")
    const isOld = isLive && Date.now() - this.#requestedAt > REFRESH_MS
    if (query === this.#requested && !isOld) return
    this.#requested = query
    this.#requestedAt = Date.now()
    this.request?.abort()
    this.request = new AbortController()
    if (!this.#sections) this.#wait(true)
    try {
      const response = await fetch(`${this.element.dataset.url}?${query}`, { signal: this.request.signal })
      if (!response.ok) throw await errorOf(response)
      const page = new DOMParser().parseFromString(await response.text(), "text/html")
      this.#wait(false)
      this.#takePanels(document.adoptNode(page.querySelector('[data-part="panels"]')))
      this.#take(document.adoptNode(page.querySelector('[data-part="sections"]')))
      this.#showStatus("")
    } catch (error) {
      if (error.name === "AbortError") return // replaced by another request
      this.#wait(false)
      if (error.isRefusal) return this.#showStatus(gettext("Charts could not be loaded: %(why)s", { why: error.message }))
      this.#requested = null
      this.#showStatus(gettext("The server is not responding. Data may be outdated; retrying."))
    }
  }

  #wait(isWaiting) {
    this.element.querySelector('[data-part="charts-waiting"]').hidden = !isWaiting
    this.element.setAttribute("aria-busy", String(isWaiting))
  }

  #showStatus(text) {
    const sign = this.element.querySelector('[data-part="charts-gone"]')
    setText(sign, text)
    sign.hidden = !text
  }

  // Unchanged panels stay in place.
  #takePanels(fresh) {
    const current = this.element.querySelector('[data-part="panels"]')
    if (!current) {
      this.#indexed.before(fresh)
      window.htmx.process(fresh)
      return
    }
    for (const { name, value } of fresh.querySelectorAll(":scope > input")) current.querySelector(`:scope > input[name="${name}"]`).value = value
    const list = current.querySelector('[data-part="panel-list"]')
    sync(list, fresh.querySelector('[data-part="panel-list"]'), () => {})
    window.htmx.process(list)
  }

  #take(fresh) {
    const { status, mistake, epoch } = fresh.dataset
    const mistaken = this.element.querySelector('[data-part="mistake"]')
    setText(mistaken, mistake && gettext("Invalid regular expression: %(why)s.", { why: mistake }))
    mistaken.hidden = !mistake
    this.#offerEpoch(epoch)
    const current = this.#sections
    // An expression is usually invalid while being typed.
    if (mistake && current) return
    fresh.dataset.chartQuery = withParameters(fresh.dataset.chartQuery, this.zoom())
    this.#reflectZoom()
    setText(this.element.querySelector('[data-part="chart-count"]'), status)
    for (const section of fresh.querySelectorAll(".charts__section")) {
      section.open = this.#folds.get(section.dataset.key) ?? section.open
    }
    if (!current) this.#indexed.append(fresh)
    else {
      const isOther = current.dataset.chartQuery !== fresh.dataset.chartQuery
      Object.assign(current.dataset, fresh.dataset)
      sync(current, fresh, (section, newer) => {
        keepAddedCharts(section, newer)
        section.className = newer.className
        section.dataset.rest = newer.dataset.rest ?? "[]"
        section.open = newer.open
        section.hidden = newer.hidden
        section.querySelector("summary").replaceChildren(...newer.querySelector("summary").childNodes)
        sync(grid(section), grid(newer), (chart, { dataset }) => {
          const { live, columns, height, own } = dataset
          const isOwn = own !== chart.dataset.own
          for (const [name, value] of Object.entries({ live, columns, height, own })) {
            value === undefined ? delete chart.dataset[name] : (chart.dataset[name] = value)
          }
          if (isOther || isOwn) chart.dispatchEvent(new CustomEvent("chart-refresh"))
        })
      })
    }
    // Loaded on first use, because the table does not need it.
    this.element.dataset.behaviour = "compared-charts"
    this.#connectIndex()
    connect(this.element)
    this.element.dispatchEvent(new CustomEvent("charts-listed"))
    this.onShown(Number(fresh.dataset.runs), fresh.dataset.groups)
  }

  // The table does not need its style sheet.
  #connectIndex() {
    const { dataset } = this.element.querySelector('[data-part="section-index"]')
    dataset.behaviour = "section-index"
    if (!dataset.styles) return
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: dataset.styles })
    document.head.append(sheet)
    delete dataset.styles
  }

  // Highlights the lines of a run; null clears.
  highlight(slot) {
    if (slot === this.slot) return
    this.slot = slot
    document.dispatchEvent(new CustomEvent("run-lit", { detail: slot }))
  }
}

const grid = (section) => section.querySelector(".charts__grid")

// Carries over the charts that were added by scrolling.
function keepAddedCharts(section, newer) {
  const added = new Map([...grid(section).children].map((chart) => [chart.dataset.path, chart]))
  const [listed, rest] = [true, false].map((isAdded) => restOf(newer).filter((path) => added.has(path) === isAdded))
  grid(newer).append(...listed.map((path) => added.get(path).cloneNode(false)))
  newer.dataset.rest = JSON.stringify(rest)
}

// Syncs the children; those with the same key stay in place.
function sync(parent, newer, update) {
  const keys = new Set([...newer.children].map((child) => child.dataset.key))
  keys.delete(undefined)
  for (const child of [...parent.children]) if (!keys.has(child.dataset.key)) child.remove()
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]))
  let place = parent.firstElementChild
  for (const child of [...newer.children]) {
    const existing = old.get(child.dataset.key)
    if (existing) update(existing, child)
    if (existing && existing === place) place = place.nextElementSibling
    else parent.insertBefore(existing ?? child, place)
  }
}
