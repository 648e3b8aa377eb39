// Dashboard grid: places widgets and lets the user move and resize them by pointer and keyboard.
// The server resolves collisions and returns all positions.
import { trackPointer } from "../core/drag.js"
import { movedBy, placeAt, resizedTo, resizedBy } from "./grid_position.js"
import { afterSwap } from "../core/swaps.js"

// Row height and gap; keep in sync with board.css.
const ROW = 72
const GAP = 12
// Debounces repeated arrow keys into one change.
const KEYS_MS = 500
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

// Unsaved positions by widget id, and the one being saved.
const moved = new Map()
let sent = null

export default function board(page) {
  arrange(page)
  afterSwap("board", () => arrange(page))
  page.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-part=move], [data-part=resize]")
    if (handle && event.button === 0) drag(page, handle, event)
  })
  page.addEventListener("keydown", (event) => {
    if (event.target.closest("[data-part=move]")) onKey(page, event)
  })
  // On the document, because the event of a widget deleted meanwhile fires there.
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (!ctx.sourceElement.matches("[data-part=place]")) return
    sent = null
    // After an error, drop this change and those based on it.
    if (!ctx.response?.raw.ok) moved.clear()
    saveNext(page)
  })
}

function arrange(page) {
  for (const widget of page.querySelectorAll("[data-part=widget]")) setPosition(widget, widget.going ?? placeOf(widget))
}

function placeOf({ id, dataset }) {
  const { x, y, width, height } = dataset
  const known = moved.get(id) ?? (sent?.id === id ? sent.place : null)
  return known ?? { x: +x, y: +y, width: +width, height: +height }
}

function setPosition(element, { x, y, width, height }) {
  element.style.gridColumn = `${x + 1} / span ${width}`
  element.style.gridRow = `${y + 1} / span ${height}`
}

// Pointer: an outline previews the new position.

function drag(page, handle, start) {
  const widget = handle.closest("[data-part=widget]")
  const grid = widget.parentElement
  // Narrow pages stack the widgets.
  if (getComputedStyle(grid).display !== "grid") return
  start.preventDefault()
  const ghost = grid.querySelector(".board__ghost")
  const isMove = handle.dataset.part === "move"
  const before = placeOf(widget)
  const cell = { width: (grid.clientWidth + GAP) / 12, height: ROW + GAP }
  let place = before

  const move = (event) => {
    const columns = (event.pageX - start.pageX) / cell.width
    const rows = (event.pageY - start.pageY) / cell.height
    place = isMove ? placeAt(before, columns, rows) : resizedTo(before, columns, rows)
    setPosition(ghost, place)
    ghost.hidden = false
    widget.classList.add("widget--dragged")
  }
  const end = (isDropped) => {
    ghost.hidden = true
    widget.classList.remove("widget--dragged")
    if (isDropped && !same(place, before)) save(page, widget, place)
  }
  handle.setPointerCapture(start.pointerId)
  trackPointer(start, { move, end })
}

// Keyboard: the widget moves at once, the others after a pause.

function onKey(page, event) {
  const step = ARROWS[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  const widget = event.target.closest("[data-part=widget]")
  const now = widget.going ?? placeOf(widget)
  widget.going = (event.shiftKey ? resizedBy : movedBy)(now, ...step)
  setPosition(widget, widget.going)
  clearTimeout(widget.resting)
  widget.resting = setTimeout(() => {
    const place = widget.going
    delete widget.going
    if (!same(place, placeOf(widget))) save(page, widget, place)
  }, KEYS_MS)
}

// Saves run one at a time, because each sends the version created by the previous one.
function save(page, widget, place) {
  moved.set(widget.id, place)
  setPosition(widget, place)
  if (!sent) saveNext(page)
}

function saveNext(page) {
  arrange(page)
  const [next] = moved
  if (!next) return
  const [id, place] = next
  moved.delete(id)
  const widget = page.querySelector(`#${CSS.escape(id)}`)
  const form = widget?.querySelector("[data-part=place]")
  if (!form) return saveNext(page)
  sent = { id, place }
  for (const [name, value] of Object.entries(place)) form.elements[name].value = value
  form.requestSubmit()
}

function same(one, other) {
  return Object.keys(one).every((name) => one[name] === other[name])
}
