// What is under the pointer: all lines of a chart at that place, the nearest first, and the
// same place on every other chart of the page. Drawn by the page and not by Plotly, which
// would list lines in their own order, and know of no other chart.

import { duration, number } from "../models/format.js"
import { nearest, readings } from "../models/nearest.js"
import { gettext } from "../texts.js"

// A box of more lines would be higher than the chart.
const MOST_ROWS = 12
const GAP_PIXELS = 14
const KEYS = { ArrowLeft: -1, ArrowRight: 1 }
const MOMENT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC",
})

const shown = new Set()

export class Hover {
  lines = []
  index = -1

  constructor(chart) {
    this.chart = chart
    this.plot = chart.plot
    this.layer = document.createElement("div")
    this.layer.className = "chart__overlay"
    this.layer.hidden = true
    this.cursor = part("chart__cursor")
    this.box = part("chart__box")
    this.layer.append(this.cursor, this.box)
    chart.element.append(this.layer)

    this.plot.tabIndex = 0
    // What is read by key is told; a pointer would have it talk without end.
    this.plot.addEventListener("keydown", () => (this.box.ariaLive = "polite"))
    this.plot.addEventListener("pointermove", (event) => {
      this.box.ariaLive = "off"
      this.moved(event)
    })
    this.plot.addEventListener("pointerleave", () => this.left())
    // Whoever goes to the menu passes over other places.
    this.plot.addEventListener("pointerdown", () => this.mark())
    this.plot.addEventListener("keydown", (event) => this.stepped(event))
    this.plot.addEventListener("blur", () => this.left())
  }

  get axes() {
    return this.plot._fullLayout ?? {}
  }

  // It comes with the other tools, after the chart has been drawn.
  get reading() {
    return this.chart.element.querySelector(".chart__reading")
  }

  get isSorted() {
    return this.chart.figure.axis !== "series"
  }

  // The figure is another one, or it has grown.
  refresh() {
    const { figure } = this.chart
    this.lines = figure.lines.map((line) => {
      const { x, y } = figure.data[line.trace]
      const smooth = line.smooth === undefined ? null : figure.data[line.smooth].y
      return { ...line, x, y, smooth }
    })
    shown.add(this)
  }

  moved(event) {
    this.pointer = event
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined
      if (this.pointer) this.follow(this.pointer)
    })
  }

  follow({ clientX, clientY }) {
    const { xaxis, _size: size } = this.axes
    if (!xaxis || !this.lines.length) return
    const frame = this.plot.getBoundingClientRect()
    const left = clientX - frame.left - size.l
    const top = clientY - frame.top - size.t
    if (left < 0 || top < 0 || left > xaxis._length || top > this.axes.yaxis._length) return this.left()
    this.readAt(xaxis.p2c(left), top)
  }

  // Read at a place, nearest first to a height, and have all other charts read there.
  readAt(place, top) {
    const { yaxis } = this.axes
    const found = readings(this.lines, {
      place,
      pixel: top,
      toPixel: (value) => yaxis.c2p(value),
      isSorted: this.isSorted,
    })
    if (!found.length) return this.left()
    const { line, index } = found[0]
    this.place = line.x[index]
    this.line = line
    this.index = index
    this.showCursor(this.place)
    this.showBox(found, top)
    for (const other of shown) if (other !== this) other.echo(this)
  }

  stepped(event) {
    const by = KEYS[event.key]
    if (!by || !this.lines.length) return
    event.preventDefault()
    const { x, y } = this.lines[0]
    const last = x.length - 1
    this.index = this.index < 0 ? last : Math.max(0, Math.min(last, this.index + by * (event.shiftKey ? 10 : 1)))
    this.readAt(x[this.index], this.axes.yaxis.c2p(y[this.index]))
    this.mark()
  }

  mark() {
    this.marked = { line: this.line, place: this.place }
  }

  // The point that was clicked or reached by key, on an axis of steps; else the last one.
  lastMarked() {
    const line = this.marked?.line ?? this.lines[0]
    const isStep = this.chart.figure.axis === "step"
    const step = isStep ? (this.marked?.place ?? line?.x[line.x.length - 1]) : ""
    return { path: line?.path, step }
  }

  left() {
    this.pointer = null
    this.index = -1
    for (const hover of shown) hover.hide()
  }

  // Another chart of the same list and axis is read: show the same place here.
  echo(other) {
    const list = this.chart.element.closest("[data-chart-query]")
    const isNear = this.chart.isNear && this.chart.isDrawn
    const isSameAxis = this.chart.figure.axis === other.chart.figure.axis
    if (!isNear || !isSameAxis || list !== other.chart.element.closest("[data-chart-query]")) return
    const { xaxis } = this.axes
    const left = xaxis?.c2p(other.place)
    if (!(left >= 0 && left <= xaxis._length)) return this.hide()
    this.box.hidden = true
    this.showCursor(other.place)
    const [line] = this.lines
    const value = line?.y[nearest(line.x, other.place, this.isSorted)]
    if (this.reading) this.reading.textContent = this.lines.length > 1 ? "" : number(value)
  }

  forget() {
    this.hide()
    shown.delete(this)
  }

  hide() {
    this.layer.hidden = true
    if (this.reading) this.reading.textContent = ""
  }

  showCursor(place) {
    const { xaxis, yaxis, _size: size } = this.axes
    const { offsetLeft, offsetTop } = this.plot
    Object.assign(this.cursor.style, {
      left: `${offsetLeft + size.l + xaxis.c2p(place)}px`,
      top: `${offsetTop + size.t}px`,
      height: `${yaxis._length}px`,
    })
    this.layer.hidden = false
  }

  showBox(found, top) {
    const several = found.length > 1
    const rows = found.slice(0, MOST_ROWS).map((reading, place) => this.row(reading, several && place === 0))
    if (found.length > MOST_ROWS) rows.push(part("chart__more", gettext("and %(count)s more", { count: found.length - MOST_ROWS })))
    this.box.replaceChildren(part("chart__place", this.described(this.place)), ...rows)
    this.box.hidden = false

    const { xaxis, _size: size } = this.axes
    const { offsetLeft, offsetTop, clientWidth } = this.plot
    const left = offsetLeft + size.l + xaxis.c2p(this.place)
    const isLeft = left + GAP_PIXELS + this.box.offsetWidth > offsetLeft + clientWidth
    const beside = isLeft ? left - GAP_PIXELS - this.box.offsetWidth : left + GAP_PIXELS
    Object.assign(this.box.style, {
      left: `${Math.max(0, beside)}px`,
      top: `${offsetTop + size.t + Math.max(0, Math.min(top - this.box.offsetHeight / 2, this.axes.yaxis._length - this.box.offsetHeight))}px`,
    })
  }

  row({ line, index, value }, isNearest) {
    const row = part(isNearest ? "chart__row chart__row--nearest" : "chart__row")
    const swatch = part("swatch")
    swatch.style.setProperty("--swatch", `var(--run-${line.position % 10})`)
    const name = document.createElement("bdi")
    name.textContent = this.lines.length > 1 ? line.name : ""
    row.append(swatch, name, part("chart__value", number(value)))
    if (line.low) row.append(part("muted", gettext("%(low)s to %(high)s", { low: number(line.low[index]), high: number(line.high[index]) })))
    const x = line.x[index]
    if (x !== this.place) row.append(part("muted", gettext("at %(place)s", { place: this.described(x) })))
    if (line.smooth) row.append(part("muted", gettext("smooth %(value)s", { value: number(line.smooth[index]) })))
    return row
  }

  described(place) {
    const { axis, over } = this.chart.figure
    if (axis === "time") return `${MOMENT.format(place)} UTC`
    if (axis === "relative") return gettext("%(time)s after the start", { time: duration(place) })
    if (axis === "series") return `${over} ${number(place)}`
    return gettext("step %(step)s", { step: number(place) })
  }
}

function part(className, text = "") {
  const element = document.createElement("div")
  element.className = className
  element.textContent = text
  return element
}
