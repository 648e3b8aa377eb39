// Hover box and cursor: lists the lines of a chart at the pointer, nearest first, and marks the
// same position on related charts. Replaces Plotly's hover, which orders lines by trace and is
// limited to one chart.

import { toMillisecond, toSecond } from "../core/clock.js"
import { duration, number } from "../core/format.js"
import { isBeyond, nearest, nearestValues } from "./nearest.js"
import { gettext } from "../core/texts.js"
import { strokeOf } from "./dashes.js"
import { pointAtLine } from "../chart_page/run_highlight.js"

// More rows would exceed the chart.
const MAX_ROWS = 12
const MIN_ROWS = 2
const ROW_PIXELS = 17
// Height of the box without rows: border, position and the count of omitted lines.
const BOX_PIXELS = 50
const GAP_PIXELS = 14
// Maximum distance from the end of a line that still counts as on it.
const END_PIXELS = 16
const KEYS = { ArrowLeft: -1, ArrowRight: 1 }
// In shorter ranges, points may share a second.
const SHORT_RANGE_MS = 60_000

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
    this.value = part("chart__echo")
    this.layer.append(this.cursor, this.value, this.box)
    chart.element.append(this.layer)

    this.plot.tabIndex = 0
    // Screen readers announce positions reached by keyboard, not by pointer.
    this.plot.addEventListener("keydown", () => (this.box.ariaLive = "polite"))
    this.plot.addEventListener("pointermove", (event) => {
      this.box.ariaLive = "off"
      this.moved(event)
    })
    this.plot.addEventListener("pointerleave", () => this.left())
    // Remembers the position, because the pointer crosses others on the way to the menu.
    this.plot.addEventListener("pointerdown", () => this.mark())
    this.plot.addEventListener("keydown", (event) => this.stepped(event))
    this.plot.addEventListener("blur", () => this.left())
  }

  get axes() {
    return this.plot._fullLayout ?? {}
  }

  // Added with the chart tools after the first draw.
  get reading() {
    return this.chart.element.querySelector(".chart__reading")
  }

  get isSorted() {
    return this.chart.figure.axis !== "series"
  }

  // The chart title already names a single line.
  get hasNames() {
    return this.chart.figure.lines.length > 1 || !this.chart.isOfOneRun
  }

  // Called after the figure was replaced or extended.
  refresh() {
    const { figure } = this.chart
    this.lines = this.readable().filter(({ trace }) => this.isVisible(trace)).map((line) => {
      const { x, y } = figure.data[line.trace]
      const smooth = line.smooth === undefined ? null : figure.data[line.smooth].y
      return { ...line, x, y, smooth }
    })
    shown.add(this)
  }

  readable() {
    return this.chart.figure.lines
  }

  get height() {
    return this.axes.yaxis._length
  }

  topOf(_line, value) {
    return this.axes.yaxis.c2p(value)
  }

  // The legend can hide lines.
  isVisible(trace) {
    return (this.plot._fullData?.[trace]?.visible ?? true) === true
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
    if (left < 0 || top < 0 || left > xaxis._length || top > this.height) return this.left()
    this.readAt(xaxis.p2c(left), top)
  }

  // Shows the values at a position, nearest to a height first, and echoes it on related charts.
  readAt(place, top) {
    const found = this.readingsAt(place, top)
    if (!found.length) return this.left()
    const { line, index } = found[0]
    this.place = line.x[index]
    this.line = line
    this.index = index
    // Measures all charts before changing any, to avoid repeated layouts.
    const echoes = [...shown].filter((other) => other !== this && other.isRelated(this))
    const frames = [this, ...echoes].map((each) => each.frameAt(this.place))
    this.showCursor(frames[0])
    this.showBox(found, top)
    pointAtLine(this.plot, line.trace)
    echoes.forEach((other, number) => other.echo(this, frames[number + 1]))
  }

  readingsAt(place, top) {
    return this.readingsOf(this.lines, place, top)
  }

  readingsOf(lines, place, top) {
    return nearestValues(lines, {
      place,
      pixel: top,
      toPixel: (value) => this.topOf(lines[0], value),
      isSorted: this.isSorted,
      isFar: (x) => this.isFar(x, place),
    })
  }

  stepped(event) {
    const by = KEYS[event.key]
    if (!by || !this.lines.length) return
    event.preventDefault()
    const line = (this.index >= 0 && this.lines.find(({ trace }) => trace === this.line.trace)) || this.lines[0]
    const { x, y } = line
    const last = x.length - 1
    this.index = this.index < 0 ? last : Math.max(0, Math.min(last, this.index + by * (event.shiftKey ? 10 : 1)))
    this.readAt(x[this.index], this.topOf(line, y[this.index]))
    this.mark()
  }

  mark() {
    this.marked = { line: this.line, place: this.place }
  }

  // The point clicked or reached by keyboard on a step axis, or else the last one.
  lastMarked() {
    const line = this.marked?.line ?? this.lines[0]
    const isStep = this.chart.figure.axis === "step"
    const step = isStep ? (this.marked?.place ?? line?.x[line.x.length - 1]) : ""
    return { path: line?.path, step, trace: line?.trace }
  }

  left() {
    this.pointer = null
    this.index = -1
    pointAtLine(this.plot, null)
    for (const hover of shown) hover.hide()
  }

  // Whether both charts share an x-axis.
  isRelated(other) {
    if (!this.chart.isNear || !this.chart.isDrawn) return false
    if (this.chart.figure.axis !== other.chart.figure.axis || this.chart.figure.over !== other.chart.figure.over) return false
    return this.chart.element.closest("[data-chart-query]") === other.chart.element.closest("[data-chart-query]")
  }

  // Shows the position and line that are hovered in another chart.
  echo(other, frame) {
    if (!(frame?.left >= 0 && frame.left <= frame.width)) return this.hide()
    this.box.hidden = true
    this.showCursor(frame)
    const line = this.lines.length > 1 ? this.like(other.line) : this.lines[0]
    const value = line ? this.valueAt(line, other.place) : NaN
    const text = Number.isFinite(value) ? number(value) : ""
    this.value.hidden = Boolean(this.reading) || !text
    if (this.reading) this.reading.textContent = text
    else this.value.textContent = text
  }

  isFar(x, place) {
    const { xaxis } = this.axes
    return Math.abs(xaxis.c2p(x) - xaxis.c2p(place)) > END_PIXELS
  }

  // NaN outside the range of the line.
  valueAt({ x, y }, place) {
    const index = nearest(x, place, this.isSorted)
    if (index < 0 || (this.isSorted && isBeyond(x, place) && this.isFar(x[index], place))) return NaN
    return y[index]
  }

  // The line with the same name and style, unless there are several.
  like({ name, colour, dash }) {
    const alike = this.lines.filter((line) => line.name === name && line.colour === colour && line.dash === dash)
    return alike.length === 1 ? alike[0] : undefined
  }

  forget() {
    this.hide()
    shown.delete(this)
  }

  hide() {
    this.layer.hidden = true
    if (this.reading) this.reading.textContent = ""
  }

  // Pixel position of an axis value in the plot and in the chart.
  frameAt(place) {
    const { xaxis, _size: size } = this.axes
    if (!xaxis) return null
    const { offsetLeft, offsetTop } = this.plot
    const left = xaxis.c2p(place)
    return { left, width: xaxis._length, height: this.height, x: offsetLeft + size.l + left, y: offsetTop + size.t }
  }

  showCursor({ left, width, height, x, y }) {
    Object.assign(this.cursor.style, { left: `${x}px`, top: `${y}px`, height: `${height}px` })
    Object.assign(this.value.style, { left: `${x}px`, top: `${y}px` })
    this.value.classList.toggle("chart__echo--before", left > width / 2)
    this.value.hidden = true
    this.layer.hidden = false
  }

  // Widgets clip their overflow.
  get heightOfBox() {
    return this.chart.element.matches(".chart--fill") ? this.chart.element.clientHeight : Infinity
  }

  showBox(found, top) {
    const several = found.length > 1
    const height = this.heightOfBox
    const maxRows = Math.max(MIN_ROWS, Math.min(MAX_ROWS, Math.floor((height - BOX_PIXELS) / ROW_PIXELS)))
    const rows = found.slice(0, maxRows).map((reading, place) => this.row(reading, several && place === 0))
    if (found.length > maxRows) rows.push(part("chart__more", gettext("and %(count)s more", { count: found.length - maxRows })))
    this.box.replaceChildren(part("chart__place", this.title), ...rows)
    this.box.hidden = false

    const { xaxis, _size: size } = this.axes
    const { offsetLeft, offsetTop, clientWidth } = this.plot
    const left = offsetLeft + size.l + xaxis.c2p(this.place)
    const isLeft = left + GAP_PIXELS + this.box.offsetWidth > offsetLeft + clientWidth
    const beside = isLeft ? left - GAP_PIXELS - this.box.offsetWidth : left + GAP_PIXELS
    const { offsetHeight } = this.box
    const down = offsetTop + size.t + Math.max(0, Math.min(top - offsetHeight / 2, this.height - offsetHeight))
    Object.assign(this.box.style, {
      left: `${Math.max(0, beside)}px`,
      top: `${Math.max(0, Math.min(down, height - offsetHeight))}px`,
    })
  }

  row({ line, index, value }, isNearest) {
    const row = part(isNearest ? "chart__row chart__row--nearest" : "chart__row")
    const name = document.createElement("bdi")
    name.textContent = this.hasNames ? line.name : ""
    row.append(strokeOf(line), name, part("chart__value", this.valueOf(line, value)))
    if (line.low) row.append(part("muted", gettext("%(low)s to %(high)s", { low: number(line.low[index]), high: number(line.high[index]) })))
    const x = line.x[index]
    if (x !== this.place) row.append(part("muted", gettext("at %(place)s", { place: this.described(x) })))
    if (line.smooth) row.append(part("muted", gettext("smoothed %(value)s", { value: number(line.smooth[index]) })))
    return row
  }

  get title() {
    return this.described(this.place)
  }

  valueOf(_line, value) {
    return number(value)
  }

  // A downsampled point is at the mean of its steps.
  get isSummarized() {
    return this.lines.some(({ low }) => low)
  }

  get isShort() {
    const [low, high] = this.axes.xaxis.range
    return high - low < SHORT_RANGE_MS
  }

  described(place) {
    const { axis, over } = this.chart.figure
    if (axis === "time") return this.isShort ? toMillisecond(place) : toSecond(place)
    if (axis === "relative") return gettext("%(time)s after start", { time: duration(place) })
    if (axis === "series") return `${over} ${number(place)}`
    return gettext("step %(step)s", { step: number(this.isSummarized ? Math.round(place) : place) })
  }
}

export function part(className, text = "") {
  const element = document.createElement("div")
  element.className = className
  element.textContent = text
  return element
}
