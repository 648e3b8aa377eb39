// Column drag: the edge resizes, the header moves. A press without movement is a click and
// sorts.
import { trackPointer } from "../core/drag.js"

const CLICK_PX = 5

export class HeadPointer {
  constructor(view, { onColumn }) {
    this.view = view
    this.onColumn = onColumn
    view.head.addEventListener("pointerdown", (event) => this.#begin(event))
    // Suppresses the click after a drag.
    view.head.addEventListener("click", (event) => this.#swallow(event), { capture: true })
    view.head.addEventListener("dblclick", (event) => this.#fit(event))
  }

  #begin(event) {
    const cell = event.target.closest("[role=columnheader]")
    if (event.button !== 0 || !cell || cell.dataset.key === "name") return
    const isResize = Boolean(event.target.closest(".runs-grid__grip"))
    const column = this.view.columns.find(({ key }) => key === cell.dataset.key)
    if (column.isFixed) return
    const drag = { cell, key: column.key, from: event.clientX, width: column.width, isResize, hasMoved: isResize }
    // Touch drags scroll the table, except on a resize handle.
    if (event.pointerType === "touch" && !isResize) return
    if (isResize) event.preventDefault()

    trackPointer(event, {
      move: (moved) => this.#move(drag, moved),
      end: (isDropped, ended) => this.#end(drag, isDropped, ended),
    })
  }

  #move(drag, event) {
    const distance = event.clientX - drag.from
    if (!drag.hasMoved && Math.abs(distance) < CLICK_PX) return
    drag.hasMoved = true
    if (drag.isResize) return this.view.resize(drag.key, drag.width + distance)
    drag.cell.classList.add("is-dragged")
    this.#mark(this.#before(event.clientX))
  }

  #end(drag, isDropped, event) {
    drag.cell.classList.remove("is-dragged")
    this.#mark(undefined)
    if (!drag.hasMoved) return
    this.hasDragged = !drag.isResize && isDropped
    if (!isDropped) return
    if (drag.isResize) {
      const column = this.view.columns.find(({ key }) => key === drag.key)
      if (column.width !== drag.width) this.onColumn("width", drag.key, column.width)
      return
    }
    this.onColumn("before", drag.key, this.#before(event.clientX))
    setTimeout(() => (this.hasDragged = false))
  }

  #swallow(event) {
    if (!this.hasDragged) return
    this.hasDragged = false
    event.stopPropagation()
  }

  #fit(event) {
    const cell = event.target.closest("[role=columnheader]")
    if (cell && event.target.closest(".runs-grid__grip")) this.onColumn("width", cell.dataset.key, 0)
  }

  // Returns the key of the column that follows the drop position, or null at the end.
  #before(x) {
    const cells = [...this.view.head.children].slice(1)
    const cell = cells.find((one) => {
      const { left, width } = one.getBoundingClientRect()
      return x < left + width / 2
    })
    return cell?.dataset.key ?? null
  }

  #mark(before) {
    for (const cell of this.view.head.children) {
      cell.classList.toggle("is-target", cell.dataset.key === before)
    }
    this.view.head.classList.toggle("is-target-end", before === null)
  }
}
