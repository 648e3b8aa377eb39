// Annotations of compared runs, by users and by scripts: marks in the color of the run above each
// chart, with their text on hover or focus.
//
// data-marks-url   JSON endpoint; "" hides annotations
import { grouped, isOf, linesBySlot, placeOf } from "./mark_groups.js"
import { createElement } from "../core/elements.js"
import { number } from "../core/format.js"
import { gettext, ngettext } from "../core/texts.js"
import { strokeOf } from "../charts/dashes.js"
import { chartOf } from "../charts/draw_queue.js"

const REFRESH_MS = 30_000
// Closer marks would overlap.
const GROUP_PIXELS = 18
// More would exceed the window.
const MAX_TEXTS = 8
const MOVES = { ArrowLeft: -1, ArrowRight: 1 }
const BOX_GAP = 8

export default function runMarks(element) {
  new RunMarks(element).start()
}

class RunMarks {
  marks = []
  requested = ""
  layers = new WeakMap()

  constructor(element) {
    this.element = element
  }

  start() {
    new MutationObserver(() => this.load()).observe(this.element, { attributeFilter: ["data-marks-url"] })
    this.element.addEventListener("chart-drawn", ({ target }) => this.drawn(target))
    this.element.addEventListener("marks-changed", () => this.read())
    const timer = setInterval(() => {
      if (!this.element.isConnected) clearInterval(timer)
      else if (!document.hidden && this.element.querySelector('[data-live="true"]')) this.read()
    }, REFRESH_MS)
    this.load()
  }

  load() {
    const address = this.element.dataset.marksUrl
    if (address === this.requested) return
    this.requested = address
    this.read()
  }

  async read() {
    const address = this.requested
    try {
      const marks = address ? await texts(address) : []
      if (address !== this.requested || marks === null) return
      this.marks = marks
    } catch (error) {
      // Charts work without annotations if the request fails.
      if (error instanceof TypeError) return
      throw error
    }
    for (const chart of this.element.querySelectorAll('.chart[data-drawn="true"]')) this.place(chart)
  }

  drawn(element) {
    const { plot } = chartOf(element)
    let layer = this.layers.get(element)
    if (!layer) {
      layer = new MarkLayer(element)
      this.layers.set(element, layer)
    }
    // Zoom and resize move the marks.
    layer.onPlot ??= () => this.place(element)
    plot.removeListener?.("plotly_afterplot", layer.onPlot)
    plot.on("plotly_afterplot", layer.onPlot)
    this.place(element)
  }

  place(element) {
    this.layers.get(element)?.show(this.marks)
  }
}

// The annotations, or null if the server returns an error.
async function texts(address) {
  const response = await fetch(address, { headers: { Accept: "application/json" } })
  return response.ok ? (await response.json()).marks : null
}

class MarkLayer {
  constructor(element) {
    this.element = element
    this.layer = createElement("div", "run-marks")
    this.layer.setAttribute("role", "group")
    this.layer.setAttribute("aria-label", gettext("Annotations"))
    this.box = createElement("div", "run-marks__box")
    this.line = createElement("div", "run-marks__line")
    this.box.hidden = this.line.hidden = true
    element.append(this.layer, this.line, this.box)
    this.layer.addEventListener("pointerover", ({ target }) => this.read(target.closest("button")))
    this.layer.addEventListener("pointerleave", () => this.read(this.layer.querySelector("button:focus-visible")))
    this.layer.addEventListener("focusin", ({ target }) => this.read(target.closest("button")))
    this.layer.addEventListener("focusout", () => this.read(null))
    this.layer.addEventListener("keydown", (event) => this.step(event))
  }

  show(marks) {
    const { figure, plot } = chartOf(this.element)
    const { xaxis, _size: size } = plot._fullLayout ?? {}
    if (!xaxis || !figure?.lines || !figure.slots) return this.clear()
    const { axis } = figure
    const lines = linesBySlot(figure)
    const lineOf = (mark) => lines.get(mark.slot)?.find(({ path }) => isOf(mark, path, axis))
    const placed = marks
      .map((mark) => ({ ...mark, line: lineOf(mark) }))
      .filter((mark) => mark.line && placeOf(mark, axis) !== null)
      .map((mark) => ({ ...mark, left: xaxis.c2p(placeOf(mark, axis)) }))
      .filter(({ left }) => left >= 0 && left <= xaxis._length)
    this.groups = grouped(placed, GROUP_PIXELS)
    const focused = this.layer.contains(document.activeElement) ? this.index : -1
    this.left = plot.offsetLeft + size.l
    this.top = plot.offsetTop + size.t
    this.height = plot._fullLayout.yaxis._length
    Object.assign(this.layer.style, { left: `${this.left}px`, top: `${this.top}px` })
    const state = JSON.stringify(this.groups.map(({ left, marks: of }) => [left, of.map(({ slot, text, name }) => [slot, text, name])]))
    // Skips unchanged marks to keep the hover.
    if (state === this.state) return
    this.state = state
    this.read(null)
    this.layer.replaceChildren(...this.groups.map((group, index) => button(group, index)))
    this.layer.children[focused]?.focus()
  }

  clear() {
    this.state = undefined
    this.read(null)
    this.layer.replaceChildren()
  }

  step(event) {
    if (event.key === "Escape") return this.read(null)
    const to = this.layer.children[this.index + MOVES[event.key]]
    if (!to) return
    event.preventDefault()
    event.stopPropagation()
    to.focus()
  }

  read(mark) {
    this.box.hidden = this.line.hidden = !mark
    if (!mark) return
    this.index = [...this.layer.children].indexOf(mark)
    for (const each of this.layer.children) each.tabIndex = each === mark ? 0 : -1
    const { left, marks } = this.groups[this.index]
    const rows = marks.slice(0, MAX_TEXTS).map((each) => row(each))
    if (marks.length > MAX_TEXTS) {
      rows.push(createElement("p", "chart__more", gettext("and %(count)s more", { count: marks.length - MAX_TEXTS })))
    }
    this.box.replaceChildren(...rows)
    const room = this.element.clientWidth - this.box.offsetWidth
    Object.assign(this.line.style, { left: `${this.left + left}px`, top: `${this.top}px`, height: `${this.height}px` })
    Object.assign(this.box.style, {
      left: `${Math.max(0, Math.min(this.left + left + BOX_GAP, room))}px`,
      top: `${this.top + 2 * BOX_GAP}px`,
    })
  }
}

function button({ left, marks }, index) {
  const { length: count, 0: first } = marks
  const colours = new Set(marks.map(({ line }) => line.colour))
  const element = createElement("button", "run-mark", count > 1 ? String(count) : "")
  element.type = "button"
  element.tabIndex = index ? -1 : 0
  element.style.left = `${left}px`
  if (colours.size === 1) element.style.setProperty("--run-colour", first.line.colour)
  element.setAttribute("aria-label", named(first, count))
  return element
}

function named({ name, text, step }, count) {
  if (count === 1) return gettext("%(name)s at step %(step)s: %(text)s", { name, step: number(step), text })
  return ngettext("%(count)s annotation at step %(step)s", "%(count)s annotations at step %(step)s", count, { count, step: number(step) })
}

function row({ name, line, text, step, author }) {
  const heading = createElement("p", "run-marks__whose")
  heading.append(strokeOf(line), createElement("bdi", "clip", name), createElement("span", "muted", gettext("step %(step)s", { step: number(step) })))
  if (author) heading.append(createElement("bdi", "muted clip", author))
  const element = createElement("article", "run-marks__text")
  element.append(heading, createElement("p", "wrap", text))
  return element
}
