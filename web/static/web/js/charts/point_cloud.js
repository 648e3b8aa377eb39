// Shows a point cloud on a canvas: dragging turns it, keys and buttons turn and zoom it. Drawn
// without WebGL, of which browsers allow few per page.

import { icon } from "../core/elements.js"
import { number } from "../core/format.js"
import { gettext, ngettext } from "../core/texts.js"
import { boundsOf, colorsOf, paint, projection, readCloud } from "./cloud_points.js"
import { computed } from "./colours.js"

const FIRST_VIEW = { turn: -0.6, tilt: 0.45, zoom: 1 }
const MAX_TILT = Math.PI / 2
const ZOOMS = [0.25, 16]
const ZOOM_STEP = 1.25
const KEY_TURN = 0.12
// Radians per pixel of dragging.
const DRAG_TURN = 0.008
// Sides of points in pixels, by the number of points.
const SIDES = [[2_000, 5], [20_000, 3], [Infinity, 2]]
const EDGES = [[0, 1], [0, 2], [0, 4], [1, 3], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 6], [5, 7], [6, 7]]

export default function start(element) {
  // Up to two megabytes each, so only those in view are loaded.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return
    observer.disconnect()
    load(element)
  }).observe(element)
}

async function load(element) {
  try {
    const response = await fetch(element.dataset.pointsUrl)
    if (!response.ok) throw new Error(response.statusText)
    const cloud = readCloud(await response.arrayBuffer())
    if (!cloud) throw new Error(gettext("The file is damaged."))
    new View(element, cloud)
  } catch (error) {
    const note = document.createElement("p")
    note.className = "muted"
    note.textContent = gettext("This point cloud could not be drawn: %(why)s", { why: error.message })
    element.append(note)
  }
}

class View {
  view = { ...FIRST_VIEW }

  constructor(element, cloud) {
    this.cloud = cloud
    this.element = element
    this.canvas = document.createElement("canvas")
    this.canvas.tabIndex = 0
    this.canvas.setAttribute("role", "img")
    this.canvas.setAttribute("aria-label", `${element.dataset.name}: ${countOf(cloud)}`)
    this.pen = this.canvas.getContext("2d")
    element.append(this.canvas, this.bar())
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event))
    this.canvas.addEventListener("keydown", (event) => this.pressed(event))
    this.canvas.addEventListener("dblclick", () => this.show(FIRST_VIEW))
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false })
    document.addEventListener("themechange", () => this.soon())
    new ResizeObserver(() => this.soon()).observe(this.canvas)
  }

  bar() {
    const bar = document.createElement("div")
    bar.className = "medium__cloud-bar small"
    const text = document.createElement("span")
    text.textContent = countOf(this.cloud)
    bar.append(
      button("minus", gettext("Zoom out"), () => this.zoom(1 / ZOOM_STEP)),
      button("plus", gettext("Zoom in"), () => this.zoom(ZOOM_STEP)),
      button("rotate-ccw", gettext("Reset view"), () => this.show(FIRST_VIEW)),
      text,
    )
    if (this.cloud.values) {
      const [low, high] = boundsOf(this.cloud.values)
      const shades = document.createElement("span")
      shades.className = "medium__cloud-scale"
      bar.append(number(low), shades, number(high))
    }
    return bar
  }

  drag(event) {
    let { clientX: x, clientY: y } = event
    this.canvas.setPointerCapture(event.pointerId)
    const move = (now) => {
      this.turn((now.clientX - x) * DRAG_TURN, (now.clientY - y) * DRAG_TURN)
      ;({ clientX: x, clientY: y } = now)
    }
    const end = new AbortController()
    this.canvas.addEventListener("pointermove", move, end)
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, () => end.abort(), end)
  }

  pressed(event) {
    const turns = {
      ArrowLeft: [-KEY_TURN, 0],
      ArrowRight: [KEY_TURN, 0],
      ArrowUp: [0, -KEY_TURN],
      ArrowDown: [0, KEY_TURN],
    }
    const zooms = { "+": ZOOM_STEP, "-": 1 / ZOOM_STEP }
    if (event.key in turns) this.turn(...turns[event.key])
    else if (event.key in zooms) this.zoom(zooms[event.key])
    else if (event.key === "0") this.show(FIRST_VIEW)
    else return
    // The page has arrow keys of its own.
    event.preventDefault()
    event.stopPropagation()
  }

  // Scrolling the page over the cloud does not zoom it until it has been clicked.
  wheel(event) {
    if (document.activeElement !== this.canvas) return
    event.preventDefault()
    this.zoom(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP)
  }

  turn(right, down) {
    const tilt = Math.min(MAX_TILT, Math.max(-MAX_TILT, this.view.tilt + down))
    this.show({ ...this.view, turn: this.view.turn + right, tilt })
  }

  zoom(factor) {
    const [least, most] = ZOOMS
    this.show({ ...this.view, zoom: Math.min(most, Math.max(least, this.view.zoom * factor)) })
  }

  show(view) {
    this.view = { ...view }
    this.soon()
  }

  soon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined
      this.draw()
    })
  }

  draw() {
    const { clientWidth, clientHeight } = this.canvas
    if (!clientWidth) return
    const ratio = Math.min(2, window.devicePixelRatio || 1)
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)]
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width
      this.canvas.height = height
      this.picture = this.pen.createImageData(width, height)
    }
    const project = projection(this.cloud, this.view, width, height)
    const colors = colorsOf(this.cloud, partsOf("var(--run-0)"))
    const side = Math.max(1, Math.round(SIDES.find(([count]) => this.cloud.count <= count)[1] * ratio * 0.75))
    paint(this.picture, this.cloud, colors, project, { side, haze: partsOf("var(--color-surface)") })
    this.pen.putImageData(this.picture, 0, 0)
    this.box(project, ratio)
    this.element.dataset.drawn = "true"
  }

  // The edges of the box around the points, behind them, and its ends.
  box(project, ratio) {
    const { pen, cloud: { bounds } } = this
    const cornerAt = (index) => project(...bounds.map((ends, axis) => ends[(index >> axis) & 1]))
    pen.globalCompositeOperation = "destination-over"
    pen.strokeStyle = computed("var(--color-line-strong)")
    pen.lineWidth = ratio
    pen.beginPath()
    for (const [from, to] of EDGES) {
      pen.moveTo(...cornerAt(from).slice(0, 2))
      pen.lineTo(...cornerAt(to).slice(0, 2))
    }
    pen.stroke()
    pen.globalCompositeOperation = "source-over"
    pen.fillStyle = computed("var(--color-muted)")
    pen.font = `${11 * ratio}px ${getComputedStyle(document.body).fontFamily}`
    pen.textAlign = "center"
    pen.textBaseline = "middle"
    for (const [axis, name] of ["x", "y", "z"].entries()) {
      const [low, high] = bounds[axis]
      const text = low === high ? `${name} ${number(low)}` : `${name} ${number(low)} … ${number(high)}`
      // At the lowest edge of the axis, for z at the leftmost one.
      const middles = EDGES.filter(([from, to]) => to - from === 1 << axis).map(([from, to]) => middleOf(cornerAt(from), cornerAt(to)))
      const [left, top] = middles.sort(name === "z" ? (a, b) => a[0] - b[0] : (a, b) => b[1] - a[1])[0]
      const half = pen.measureText(text).width / 2
      const x = name === "z" ? left - half - 6 * ratio : left
      pen.fillText(text, Math.min(Math.max(x, half), this.canvas.width - half), Math.min(top + (name === "z" ? 0 : 14 * ratio), this.canvas.height - 8 * ratio))
    }
  }
}

function button(name, label, onClick) {
  const made = document.createElement("button")
  made.type = "button"
  made.className = "button button--quiet button--icon"
  made.title = label
  made.setAttribute("aria-label", label)
  made.append(icon(name))
  made.addEventListener("click", onClick)
  return made
}

function countOf({ count, total }) {
  if (count < total) {
    return gettext("%(count)s of %(all)s points", { count: number(count), all: number(total) })
  }
  return ngettext("%(count)s point", "%(count)s points", count, { count: number(count) })
}

const middleOf = ([x, y], [otherX, otherY]) => [(x + otherX) / 2, (y + otherY) / 2]

const partsOf = (colour) => computed(colour).match(/[\d.]+/g).slice(0, 3).map(Number)
