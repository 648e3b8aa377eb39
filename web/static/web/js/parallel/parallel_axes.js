// Parallel coordinates: an axis per value, a line per run. Brushes and axis order are in the URL,
// and links and forms of the page are updated to them.
//
// #parallel   JSON: runs, axes with positions of runs, color scale, brushes; polled while runs
//             are live

import { pointAt } from "../chart_page/run_highlight.js"
import { trackPointer } from "../core/drag.js"
import { axisFields, withAxes } from "./parallel_address.js"
import { linePath, MARGIN, placeAt, shareOf, within, xOf, yOf } from "./parallel_layout.js"
import { gettext, ngettext } from "../core/texts.js"

const SVG = "http://www.w3.org/2000/svg"
const HEIGHT = 400
const MIN_GAP = 120
const RUN_COLOURS = 10
const RUN_ROUNDS = 4
const MAX_COMPARED = 100
const KEY_STEPS = 50
// A shorter drag counts as a click, which removes the brush.
const MIN_DRAG = 4

export default function parallelAxes(element) {
  new ParallelAxes(element).draw()
}

class ParallelAxes {
  constructor(element) {
    this.element = element
    this.text = parallelText()
    const { runs, axes, colour, brushes } = JSON.parse(this.text)
    Object.assign(this, { runs, axes, colour, windows: brushes })
    this.plot = this.part("plot")
    this.part("clear").addEventListener("click", () => {
      this.windows = this.windows.map(() => null)
      this.changed()
    })
    new ResizeObserver(() => this.draw()).observe(this.plot)
    document.addEventListener("run-lit", ({ detail }) => this.lightRun(detail))
    document.addEventListener("htmx:after:swap", () => this.renew())
  }

  // Keeps the user's axes and brushes when new data arrives.
  renew() {
    const text = parallelText()
    if (text === undefined || text === this.text || this.isDragged) return
    this.text = text
    const { runs, axes, colour } = JSON.parse(text)
    const known = new Map(axes.map((axis) => [axis.path, axis]))
    if (!this.axes.every(({ path }) => known.has(path))) return
    const pointed = this.runs[this.pointedAt]?.url
    Object.assign(this, { runs, colour, axes: this.axes.map(({ path }) => known.get(path)) })
    this.draw()
    const index = this.runs.findIndex(({ url }) => url === pointed)
    if (index >= 0) this.showRun(index)
  }

  // Highlights the run that is hovered in the list, or null.
  lightRun(slot) {
    this.plot.classList.toggle("parallel__plot--lit", slot !== null)
    this.runs.forEach((run, index) => this.lines[index].classList.toggle("parallel__run--lit", run.slot === slot && slot !== null))
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }

  draw() {
    const least = 2 * MARGIN.side + MIN_GAP * (this.axes.length - 1)
    this.width = Math.max(this.plot.clientWidth, least)
    const root = svg("svg", { viewBox: `0 0 ${this.width} ${HEIGHT}`, width: this.width, height: HEIGHT })
    this.lines = this.runs.map((run, index) => this.line(run, index))
    root.append(svg("g", { class: "parallel__lines" }, this.lines))
    root.append(...this.axes.map((axis, index) => this.axis(axis, index)))
    const { path, run } = this.plot.querySelector(":focus")?.dataset ?? {}
    this.plot.replaceChildren(root)
    if (path !== undefined) root.querySelector(`[data-path="${CSS.escape(path)}"]`)?.focus()
    if (run !== undefined) root.querySelector(`[data-run="${CSS.escape(run)}"]`)?.focus()
    this.highlight()
  }

  line(run, index) {
    const path = svg("path", { d: linePath(this.axes, index, this.width, HEIGHT), class: "parallel__line" })
    path.style.setProperty("--line", this.colourOf(run, index))
    if (run.slot === null) path.classList.add("parallel__line--other")
    else path.classList.add(`parallel__line--round-${Math.floor(run.slot / RUN_COLOURS) % RUN_ROUNDS}`)
    const link = svg("a", { href: run.url, class: "parallel__run", "aria-label": run.name, "data-run": run.id }, [path, title(run.name)])
    // Lines of hundreds of runs are not tab stops.
    if (run.slot === null) link.setAttribute("tabindex", -1)
    link.addEventListener("pointerenter", () => this.showRun(index))
    link.addEventListener("focus", () => this.showRun(index))
    link.addEventListener("pointerleave", () => this.showRun(null))
    link.addEventListener("blur", () => this.showRun(null))
    return link
  }

  colourOf(run, index) {
    if (!this.colour) return run.slot === null ? "var(--color-line-strong)" : `var(--run-${run.slot % RUN_COLOURS})`
    const share = shareOf(this.colour, index)
    if (share === null) return "var(--color-line-strong)"
    return share < 0.5
      ? `color-mix(in oklab, var(--scale-middle) ${share * 200}%, var(--scale-low))`
      : `color-mix(in oklab, var(--scale-high) ${(share - 0.5) * 200}%, var(--scale-middle))`
  }

  axis(axis, index) {
    const x = xOf(index, this.axes.length, this.width)
    const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom]
    const name = svg("text", { class: "parallel__name", x: 0, y: top - 20, "text-anchor": anchor(index, this.axes.length) })
    name.textContent = shortened(axis.label)
    name.append(title(axis.label))
    name.addEventListener("pointerdown", (event) => this.dragAxis(index, group, event))
    const ticks = axis.ticks.flatMap(({ place, text }) => {
      const y = yOf(axis, place, HEIGHT)
      const word = svg("text", { class: "parallel__tick", x: 6, y: y + 4 })
      word.textContent = text
      return [svg("line", { x1: -3, x2: 3, y1: y, y2: y }), word]
    })
    const catcher = svg("rect", { class: "parallel__catcher", x: -16, width: 32, y: top, height: bottom - top })
    catcher.addEventListener("pointerdown", (event) => this.dragWindow(index, event))
    const group = svg(
      "g",
      {
        class: "parallel__axis",
        transform: `translate(${x} 0)`,
        tabindex: 0,
        role: "group",
        "aria-label": this.described(axis, index),
        "data-path": axis.path,
      },
      [svg("line", { y1: top, y2: bottom }), ...ticks, name, ...this.window(axis, index), catcher],
    )
    group.addEventListener("keydown", (event) => this.byKey(index, event))
    return group
  }

  window(axis, index) {
    const window = this.windows[index]
    if (!window) return []
    const [low, high] = window.map((place) => yOf(axis, place, HEIGHT))
    return [svg("rect", { class: "parallel__window", x: -7, width: 14, y: high, height: Math.max(2, low - high), rx: 3 })]
  }

  described(axis, index) {
    const window = this.windows[index]
    return window
      ? gettext("%(axis)s, from %(low)s to %(high)s", { axis: axis.label, low: valueText(window[0]), high: valueText(window[1]) })
      : gettext("%(axis)s, all values", { axis: axis.label })
  }

  dragWindow(index, event) {
    if (event.button) return
    event.preventDefault()
    const axis = this.axes[index]
    const top = this.plot.firstElementChild.getBoundingClientRect().top
    const from = event.clientY - top
    const move = ({ clientY }) => {
      const to = clientY - top
      const places = [placeAt(axis, from, HEIGHT), placeAt(axis, to, HEIGHT)]
      this.windows[index] = Math.abs(to - from) < MIN_DRAG ? null : places.sort((a, b) => a - b)
      this.draw()
    }
    this.isDragged = true
    move(event)
    trackPointer(event, { move, end: () => this.dropped(() => this.changed()) })
  }

  // An axis moves to where its label is dropped.
  dragAxis(index, group, event) {
    if (event.button) return
    event.preventDefault()
    const left = this.plot.firstElementChild.getBoundingClientRect().left
    let to = index
    const move = ({ clientX }) => {
      const x = clientX - left
      const share = (x - MARGIN.side) / Math.max(1, this.width - 2 * MARGIN.side)
      to = Math.round(Math.min(1, Math.max(0, share)) * (this.axes.length - 1))
      group.setAttribute("transform", `translate(${x} 0)`)
    }
    this.isDragged = true
    trackPointer(event, { move, end: (isDropped) => this.dropped(() => (isDropped ? this.moveAxis(index, to) : this.draw())) })
  }

  // Draws data that arrived during the drag.
  dropped(done) {
    this.isDragged = false
    done()
    this.renew()
  }

  moveAxis(from, to) {
    for (const list of [this.axes, this.windows]) list.splice(to, 0, ...list.splice(from, 1))
    this.changed()
  }

  // Up and Down move the upper end of the brush, with Shift the lower end.
  byKey(index, event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const axis = this.axes[index]
    const [low, high] = this.windows[index] ?? [axis.low, axis.high]
    const step = (axis.high / 2 - axis.low / 2) * (2 / KEY_STEPS)
    const by = { ArrowUp: step, ArrowDown: -step }[event.key]
    if (event.key === "Escape") this.windows[index] = null
    else if (event.key === "ArrowLeft" && index) return this.moveAxis(index, index - 1)
    else if (event.key === "ArrowRight" && index + 1 < this.axes.length) return this.moveAxis(index, index + 1)
    else if (by === undefined) return
    else if (event.shiftKey) this.windows[index] = [clamped(low + by, axis.low, high), high]
    else this.windows[index] = [low, clamped(high + by, low, axis.high)]
    event.preventDefault()
    this.changed()
  }

  changed() {
    history.replaceState(history.state, "", withAxes(location.href, this.axes, this.windows))
    for (const link of document.querySelectorAll("main a[href]")) {
      if (link.pathname !== location.pathname || link.dataset.part === "keep") continue
      // Links that remove an axis lack only that one.
      const isPart = Boolean(link.closest(".parallel__axes"))
      link.href = withAxes(link.href, this.axes, this.windows, { isPart })
    }
    for (const form of document.querySelectorAll("main form[method=get]")) this.updateForm(form)
    this.draw()
  }

  // Updates hidden fields of forms.
  updateForm(form) {
    const old = form.querySelectorAll("input[type=hidden]:is([name=dimension], [name=brush])")
    if (!old.length && !["toolbar", "axes"].includes(form.dataset.part)) return
    for (const input of old) input.remove()
    const fields = axisFields(this.axes, this.windows).map(([name, value]) => {
      const input = document.createElement("input")
      return Object.assign(input, { type: "hidden", name, value })
    })
    form.prepend(...fields)
  }

  highlight() {
    const isInside = within(this.axes, this.windows, this.runs.length)
    this.lines.forEach((line, index) => line.classList.toggle("parallel__run--pale", !isInside[index]))
    const isNarrowed = this.windows.some(Boolean)
    const remaining = this.runs.filter((_, index) => isInside[index])
    this.summary = isNarrowed ? ngettext(
      "%(count)s of %(all)s runs selected.",
      "%(count)s of %(all)s runs selected.",
      remaining.length, { count: remaining.length, all: this.runs.length },
    ) : ""
    this.showRun(null)
    this.part("clear").hidden = !isNarrowed
    const button = this.part("keep")
    button.hidden = !isNarrowed || !remaining.length || remaining.length > MAX_COMPARED
    button.href = this.addressOf(remaining)
    this.part("keep-text").textContent = ngettext("Compare only this run", "Compare only these %(count)s runs", remaining.length)
  }

  // Runs keep their colors, unless some have none.
  addressOf(runs) {
    const address = new URL(location.href)
    address.searchParams.set("runs", runs.map(({ id }) => id).join(","))
    for (const name of ["colours", "hidden", "among", "query", "brush"]) address.searchParams.delete(name)
    if (runs.every(({ slot }) => slot !== null)) address.searchParams.set("colours", runs.map(({ slot }) => slot).join("."))
    return address.href
  }

  showRun(index) {
    const status = this.part("status")
    this.pointedAt = index
    pointAt(this.element, index === null ? null : this.runs[index].slot)
    if (index === null) return void (status.textContent = this.summary)
    const values = this.axes.map((axis) => `${axis.label} ${axis.texts[index]}`).join(", ")
    status.textContent = `${this.runs[index].name}: ${values}`
  }
}

function parallelText() {
  return document.getElementById("parallel")?.textContent
}

function svg(tag, attributes = {}, children = []) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

function title(text) {
  const element = svg("title")
  element.textContent = text
  return element
}

function anchor(index, count) {
  if (count > 1 && index === 0) return "start"
  return count > 1 && index === count - 1 ? "end" : "middle"
}

const MAX_NAME = 26

function shortened(name) {
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME)}`
}

function valueText(value) {
  return String(Number(value.toPrecision(4)))
}

function clamped(value, low, high) {
  return Math.min(high, Math.max(low, value))
}
