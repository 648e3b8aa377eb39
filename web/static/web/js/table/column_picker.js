// Column picker of the runs table: search, add, reorder, pin and remove.
import { icon } from "../core/elements.js"
import { PathOptions } from "./path_options.js"
import { labelOf } from "./run_columns.js"
import { gettext } from "../core/texts.js"

export class ColumnPicker {
  // `columns` returns the shown columns as { keys, pinned }.
  constructor(element, { address, columns, onColumn, onReset }) {
    this.element = element
    this.columns = columns
    this.onColumn = onColumn
    this.summary = element.querySelector("[data-part=column-summary]")
    this.list = element.querySelector("[data-part=column-list]")
    this.options = new PathOptions(
      element.querySelector("[data-part=column-search]"),
      element.querySelector("[data-part=column-options]"),
      {
        address,
        labelOf,
        keysOf: (ofRun, found) => this.#keys(ofRun, found),
        isTaken: (key) => this.columns().keys.includes(key),
        onTake: (key) => this.#toggle(key),
      },
    )
    this.summary.addEventListener("change", () => this.options.draw())
    this.list.addEventListener("click", (event) => this.#press(event))
    element.querySelector("[data-part=column-reset]").addEventListener("click", onReset)
  }

  open() {
    this.draw()
    this.options.input.focus()
    this.options.request()
  }

  draw() {
    if (!this.element.open) return
    const { keys, pinned } = this.columns()
    // Polls redraw every few seconds; an unchanged list keeps focus and hover.
    const drawn = JSON.stringify([keys, pinned])
    if (drawn === this.drawn) return
    this.drawn = drawn
    const { key, what } = this.list.contains(document.activeElement) ? document.activeElement.dataset : {}
    this.list.replaceChildren(...keys.map((key, place) => this.#item(key, place < pinned, place, keys.length)))
    this.options.mark()
    this.#button(key, what)?.focus()
  }

  #keys(ofRun, found) {
    const summary = this.summary.value
    const paths = found.map(([path, kind]) => {
      const isSeries = kind === "float_series"
      return `${isSeries && summary !== "last" ? summary : "path"}:${path}`
    })
    return [...paths, ...ofRun]
  }

  #toggle(key) {
    this.onColumn(this.columns().keys.includes(key) ? "remove" : "add", key)
  }

  #item(key, isPinned, place, count) {
    const item = document.createElement("li")
    const label = document.createElement("span")
    label.className = "clip picker__name"
    label.textContent = labelOf(key)
    label.title = labelOf(key)
    item.append(
      label,
      actionButton("arrow-up", "up", key, gettext("Move %(column)s left", { column: labelOf(key) }), place === 0),
      actionButton("arrow-down", "down", key, gettext("Move %(column)s right", { column: labelOf(key) }), place === count - 1),
      actionButton("pin", "pin", key, isPinned ? gettext("Unpin %(column)s", { column: labelOf(key) }) : gettext("Pin %(column)s", { column: labelOf(key) }), false, isPinned),
      actionButton("x", "remove", key, gettext("Remove %(column)s", { column: labelOf(key) })),
    )
    return item
  }

  #press(event) {
    const button = event.target.closest("button")
    if (!button) return
    const { key, what } = button.dataset
    const step = { up: -1, down: 1 }[what]
    if (step) this.onColumn("step", key, step)
    else this.onColumn(what, key)
  }

  // Falls back to another button if the focused one is now disabled.
  #button(key, action) {
    const own = [...this.list.querySelectorAll("button:not([disabled])")].filter((button) => button.dataset.key === key)
    return own.find((button) => button.dataset.what === action) ?? own[0]
  }
}


function actionButton(sign, action, key, label, isDisabled = false, isPressed = null) {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "button button--quiet button--icon"
  button.dataset.what = action
  button.dataset.key = key
  button.title = label
  button.setAttribute("aria-label", label)
  button.disabled = isDisabled
  if (isPressed !== null) button.setAttribute("aria-pressed", String(isPressed))
  button.append(icon(sign))
  return button
}
