// Hover of a figure with several rows above one x-axis: lists the lines of the row under the
// pointer and marks the same run in the other rows. One cursor spans all rows.
//
// Each entry of the figure's `rows` holds its axis, title, unit and lines.
import { number } from "../core/format.js"
import { Hover, part } from "./hover.js"

export class RowsHover extends Hover {
  echoes = []

  readable() {
    return this.chart.figure.rows.flatMap((row) => row.lines.map((line) => ({ ...line, row })))
  }

  get hasNames() {
    return true
  }

  get height() {
    return this.axes._size.h
  }

  // Offset from the top of the first row.
  topOf({ row }, value) {
    const axis = this.axes[row.axis]
    return axis._offset - this.axes._size.t + axis.c2p(value)
  }

  // The nearest row with data at this position.
  readingsAt(place, top) {
    const rows = [...this.chart.figure.rows].sort((one, other) => this.wayTo(one, top) - this.wayTo(other, top))
    for (const row of rows) {
      const found = this.readingsOf(this.lines.filter((line) => line.row === row), place, top)
      if (found.length) return found
    }
    return []
  }

  wayTo(row, top) {
    const { _offset, _length } = this.axes[row.axis]
    const start = _offset - this.axes._size.t
    return Math.max(start - top, top - start - _length, 0)
  }

  get title() {
    return `${this.line.row.title} · ${this.described(this.place)}`
  }

  valueOf(line, value) {
    return [number(value), line.row.unit].filter(Boolean).join(" ")
  }

  showBox(found, top) {
    super.showBox(found, top)
    this.echoRows()
  }

  // Marks the hovered run in the other rows.
  echoRows() {
    for (const echo of this.echoes) echo.remove()
    const { left, width, x } = this.frameAt(this.place)
    const { name, colour, dash, row } = this.line
    const others = this.lines.filter((line) => line.row !== row && line.name === name && line.colour === colour && line.dash === dash)
    this.echoes = others.flatMap((line) => {
      const value = this.valueAt(line, this.place)
      if (!Number.isFinite(value)) return []
      const echo = part("chart__echo chart__echo--of-row", this.valueOf(line, value))
      echo.classList.toggle("chart__echo--before", left > width / 2)
      Object.assign(echo.style, { left: `${x}px`, top: `${this.plot.offsetTop + this.axes[line.row.axis]._offset}px` })
      return [echo]
    })
    this.layer.prepend(...this.echoes)
  }
}
