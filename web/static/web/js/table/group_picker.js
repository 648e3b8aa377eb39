// Picker of the columns that group the runs.
import { icon } from "../core/elements.js"
import { PathOptions } from "./path_options.js"
import { canGroup, labelOf } from "./run_columns.js"
import { gettext } from "../core/texts.js"

const MAX_KEYS = 4
// Attribute types with few distinct values.
const KINDS = new Set(["string", "string_set", "integer", "float", "boolean", "float_series"])

export class GroupPicker {
  constructor(element, { address, keys, onChange }) {
    this.element = element
    this.keys = keys
    this.onChange = onChange
    this.list = element.querySelector("[data-part=group-list]")
    this.options = new PathOptions(
      element.querySelector("[data-part=group-search]"),
      element.querySelector("[data-part=group-options]"),
      {
        address,
        labelOf,
        keysOf: (ofRun, found) => offered(ofRun, found),
        isTaken: (key) => this.keys().includes(key),
        onTake: (key) => this.#toggle(key),
      },
    )
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button")
      if (button) this.#toggle(button.dataset.key)
    })
  }

  open() {
    this.draw()
    this.options.input.focus()
    this.options.request()
  }

  draw() {
    const drawn = JSON.stringify(this.keys())
    if (drawn === this.drawn) return
    this.drawn = drawn
    this.list.replaceChildren(...this.keys().map(chosen))
    this.options.mark()
  }

  #toggle(key) {
    const keys = this.keys()
    if (keys.includes(key)) this.onChange(keys.filter((other) => other !== key))
    else this.onChange([...keys, key].slice(-MAX_KEYS))
  }
}

// Parameters come before metrics.
function offered(ofRun, found) {
  const fitting = found.filter(([, kind]) => KINDS.has(kind))
  const paths = fitting.map(([path]) => `path:${path}`).filter((key) => key !== "path:tags")
  const params = paths.filter((key) => key.startsWith("path:params/"))
  return [...ofRun.filter(canGroup), ...params, ...paths.filter((key) => !params.includes(key))]
}

function chosen(key) {
  const item = document.createElement("li")
  const label = document.createElement("span")
  label.className = "clip picker__name"
  label.textContent = labelOf(key)
  const button = document.createElement("button")
  button.type = "button"
  button.className = "button button--quiet button--icon"
  button.dataset.key = key
  button.setAttribute("aria-label", gettext("Stop grouping by %(column)s", { column: labelOf(key) }))
  button.append(icon("x"))
  item.append(label, button)
  return item
}
