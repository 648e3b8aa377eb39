// A run's charts: the bar above them, over which axis and how they are drawn, how far
// zoomed. All of it is in the page's address, so that a link shows the same.

import { Arrangement } from "../models/arrangement.js"
import { Refused, post } from "../models/post.js"
import { toast } from "../toasts.js"
import { annotations } from "./chart_annotations.js"
import { cards } from "./chart_cards.js"
import { choice } from "./chart_choice.js"
import { menu } from "./chart_menu.js"
import { search } from "./chart_search.js"
import { undoable } from "./chart_undo.js"
import { liveStatus } from "./live_status.js"
import { gettext } from "../texts.js"

const WAIT_MS = 150
const SAVE_MS = 600
// Beyond this the address is left without the arrangement, which is kept all the same.
const LONGEST_LAYOUT = 3_000
const FIGURE_OPTIONS = ["axis", "over", "log", "logx", "clip", "smoothing", "low", "high"]
// The same numbers mean another range on another axis.
const ANOTHER_AXIS = { over: null, low: null, high: null }

class Page {
  constructor(list) {
    this.list = list
    this.address = new URL(location.href)
    this.options = this.address.searchParams
    this.arrangement = new Arrangement(JSON.parse(list.dataset.layout || "{}"))
    this.changed = undoable(this, FIGURE_OPTIONS)
  }

  part(name) {
    return this.list.querySelector(`[data-part="${name}"]`)
  }

  charts() {
    return this.list.querySelectorAll('[data-behaviour="chart"]')
  }

  // Changes what the address says; null takes a name out of it.
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      value === null ? this.options.delete(name) : this.options.set(name, value)
    }
    history.replaceState(history.state, "", this.address)
  }

  redraw(changes) {
    this.set(changes)
    this.changed()
    const given = FIGURE_OPTIONS.filter((name) => this.options.has(name))
    this.list.dataset.chartQuery = new URLSearchParams(given.map((name) => [name, this.options.get(name)]))
    reflect(this)
    for (const chart of this.charts()) chart.dispatchEvent(new CustomEvent("chart-refresh"))
  }

  // Writes the arrangement into the address, and has the server keep it for this person.
  arranged() {
    const body = this.arrangement.body
    const text = Object.keys(body).length ? JSON.stringify(body) : null
    this.set({ layout: text && text.length <= LONGEST_LAYOUT ? text : null })
    this.changed()
    clearTimeout(this.saving)
    // Strangers have nobody to keep it for: theirs is in the address alone.
    if (!("layoutUrl" in this.list.dataset)) return
    this.unsaved = { layout: JSON.stringify(body) }
    this.saving = setTimeout(() => this.save(), SAVE_MS)
  }

  async save() {
    if (!this.unsaved) return
    const fields = this.unsaved
    this.unsaved = null
    const said = await this.post(this.list.dataset.layoutUrl, fields)
    if (said) toast(gettext("The arrangement may not be kept. %(why)s", { why: said }), { isError: true })
  }

  // Resolves to what the server says against it, or null.
  async post(address, fields) {
    try {
      await post(address, fields)
      return null
    } catch (error) {
      if (error instanceof Refused) return error.message
      throw error
    }
  }
}

export default function chartList(list) {
  const page = new Page(list)
  const choose = choice(page)
  bar(page, choose)
  search(page)
  const shelf = cards(page)
  const write = annotations(page)
  menu(page, { choose, shelf, write })
  liveStatus(page)
  window.addEventListener("pagehide", () => page.save())
}

function bar(page, choose) {
  for (const button of page.list.querySelectorAll("[data-axis]")) {
    const { axis, over = null } = button.dataset
    button.addEventListener("click", () => page.redraw({ ...ANOTHER_AXIS, axis, over }))
  }
  page.part("choose-axis").addEventListener("click", async () => {
    const [over] = await choose({
      title: gettext("Draw over a series"),
      hint: gettext("Each chart shows its lines over the values of this series at the same steps."),
      chosen: [page.options.get("over")].filter(Boolean),
      isSingle: true,
    })
    if (over) page.redraw({ ...ANOTHER_AXIS, axis: "series", over })
  })
  for (const button of page.list.querySelectorAll("[data-option]")) {
    const name = button.dataset.option
    button.addEventListener("click", () => page.redraw({ [name]: page.options.get(name) === "1" ? null : "1" }))
  }
  page.part("unzoom").addEventListener("click", () => page.redraw({ low: null, high: null }))

  let waiting
  page.part("smoothing").addEventListener("input", ({ target }) => {
    clearTimeout(waiting)
    waiting = setTimeout(() => page.redraw({ smoothing: +target.value ? target.value : null }), WAIT_MS)
  })
  page.list.addEventListener("chart-zoom", (event) => {
    event.preventDefault()
    page.redraw({ low: event.detail?.low ?? null, high: event.detail?.high ?? null })
  })
}

function reflect(page) {
  const axis = page.options.get("axis") ?? "step"
  const over = page.options.get("over") ?? ""
  let isNamed = false
  for (const button of page.list.querySelectorAll("[data-axis]")) {
    const isThis = button.dataset.axis === axis && (button.dataset.over ?? "") === over
    button.setAttribute("aria-pressed", isThis)
    isNamed ||= isThis
  }
  page.part("choose-axis").setAttribute("aria-pressed", !isNamed)
  for (const button of page.list.querySelectorAll("[data-option]")) {
    button.setAttribute("aria-pressed", page.options.get(button.dataset.option) === "1")
  }
  page.part("unzoom").hidden = !page.options.has("low")
  const smoothing = page.part("smoothing")
  if (smoothing === document.activeElement) return
  smoothing.value = page.options.get("smoothing") ?? "0"
  smoothing.nextElementSibling.value = Number(smoothing.value).toFixed(2)
}
