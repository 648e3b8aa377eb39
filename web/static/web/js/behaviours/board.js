// A dashboard's grid: puts widgets where the server says, and lets them be moved and
// resized by pointer and by keyboard. The server then makes room and says where all are.
import { movedBy, placeAt, resizedTo, resizedBy } from "../models/grid_place.js"
import { afterSwap } from "../models/swaps.js"

// A row and the gap below it; board.css has the same.
const ROW = 72
const GAP = 12
// Several presses of an arrow key are one change.
const KEYS_MS = 500
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

export default function board(page) {
  arrange(page)
  afterSwap("board", () => {
    arrange(page)
    // Charts take the size of their widgets.
    window.dispatchEvent(new Event("resize"))
  })
  page.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-part=move], [data-part=resize]")
    if (handle && event.button === 0) drag(page, handle, event)
  })
  page.addEventListener("keydown", (event) => {
    if (event.target.closest("[data-part=move]")) onKey(event)
  })
}

function arrange(page) {
  for (const widget of page.querySelectorAll("[data-part=widget]")) put(widget, placeOf(widget))
}

function placeOf({ dataset }) {
  const { x, y, width, height } = dataset
  return { x: +x, y: +y, width: +width, height: +height }
}

function put(element, { x, y, width, height }) {
  element.style.gridColumn = `${x + 1} / span ${width}`
  element.style.gridRow = `${y + 1} / span ${height}`
}

// By pointer: the outline shows where the widget will stand.

function drag(page, handle, start) {
  const widget = handle.closest("[data-part=widget]")
  const grid = widget.parentElement
  // On a narrow page widgets stand below each other, in their order.
  if (getComputedStyle(grid).display !== "grid") return
  start.preventDefault()
  const ghost = grid.querySelector(".board__ghost")
  const isMove = handle.dataset.part === "move"
  const before = placeOf(widget)
  const cell = { width: (grid.clientWidth + GAP) / 12, height: ROW + GAP }
  let place = before

  const follow = (event) => {
    const columns = (event.pageX - start.pageX) / cell.width
    const rows = (event.pageY - start.pageY) / cell.height
    place = isMove ? placeAt(before, columns, rows) : resizedTo(before, columns, rows)
    put(ghost, place)
    ghost.hidden = false
    widget.classList.add("widget--dragged")
  }
  const end = (event) => {
    handle.removeEventListener("pointermove", follow)
    handle.removeEventListener("pointerup", end)
    handle.removeEventListener("pointercancel", end)
    ghost.hidden = true
    widget.classList.remove("widget--dragged")
    if (event.type === "pointerup" && !same(place, before)) save(widget, place)
  }
  handle.setPointerCapture(start.pointerId)
  handle.addEventListener("pointermove", follow)
  handle.addEventListener("pointerup", end)
  handle.addEventListener("pointercancel", end)
}

// By keyboard: the widget itself goes ahead, the others follow once it rests.

function onKey(event) {
  const step = ARROWS[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  const widget = event.target.closest("[data-part=widget]")
  const now = widget.going ?? placeOf(widget)
  widget.going = (event.shiftKey ? resizedBy : movedBy)(now, ...step)
  put(widget, widget.going)
  clearTimeout(widget.resting)
  widget.resting = setTimeout(() => {
    const place = widget.going
    delete widget.going
    if (!same(place, placeOf(widget))) save(widget, place)
  }, KEYS_MS)
}

function save(widget, place) {
  const form = widget.querySelector("[data-part=place]")
  for (const [name, value] of Object.entries(place)) form.elements[name].value = value
  put(widget, place)
  form.requestSubmit()
}

function same(one, other) {
  return Object.keys(one).every((name) => one[name] === other[name])
}
