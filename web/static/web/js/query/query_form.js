// The filter editor: one column, an operator and a value with suggestions.
import { Typeahead } from "../core/typeahead.js"
import { OPERATORS, needsValue } from "./query_rows.js"
import { FIELDS, unitOf, writtenPath } from "./query_words.js"
import { gettext } from "../core/texts.js"

const STATES = ["running", "finished", "failed", "crashed", "preempted"]
const AGES = ["-1d", "-7d", "-30d"]
const SPANS = ["10m", "1h", "1d"]
const VALUES = { state: STATES, created: AGES, started: AGES, ended: AGES, duration: SPANS, wall_time: SPANS }
const USUAL = { state: "=", made_by: "=", tags: "contains", name: "~", finding: "~", created: ">", started: ">", ended: ">" }
const MAX_VALUES = 20

export class QueryForm {
  // `known` lists values by column, `valuesOf` resolves to those of an attribute; `take` returns the
  // filter to edit, or null; `onSave` gets that filter and the new row.
  constructor(element, { address, known, valuesOf, take, onSave }) {
    this.element = element
    this.take = take
    this.address = address
    this.known = known
    this.valuesOf = valuesOf
    this.onSave = onSave
    const part = (name) => element.querySelector(`[data-part="${name}"]`)
    this.operand = part("filter-operand")
    this.operator = part("filter-operator")
    this.value = part("filter-value")
    this.paths = element.querySelector("#filter-paths")
    this.values = element.querySelector("#filter-values")
    this.save = part("filter-save")
    this.operator.replaceChildren(...OPERATORS.map(([name, label]) => new Option(label, name)))
    this.typeahead = new Typeahead(({ paths }) => this.#offer(paths))
    this.operand.addEventListener("input", () => this.#choose())
    this.operator.addEventListener("change", () => this.#fit())
    this.save.addEventListener("click", () => this.#save())
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target === this.save || event.target.matches("summary")) return
      event.preventDefault()
      this.#save()
    })
  }

  // Opens with the filter to edit, or empty for a new one.
  open() {
    const filter = this.take()
    const { operand, operator, value } = filter?.row ?? { operand: "", operator: "<", value: "" }
    this.operand.value = operand
    this.operator.value = operator
    this.value.value = value
    this.edited = filter
    this.save.textContent = filter ? gettext("Apply") : gettext("Add filter")
    this.#fit()
    this.typeahead.request(this.address, { search: "" })
    this.#suggest()
    ;(filter ? this.value : this.operand).focus()
  }

  #choose() {
    const operand = this.operand.value.trim()
    this.operator.value = USUAL[operand] ?? this.operator.value
    this.#fit()
    this.typeahead.requestSoon(this.address, { search: operand })
    this.#suggest()
  }

  #fit() {
    this.value.hidden = !needsValue(this.operator.value)
  }

  #save() {
    const row = { operand: this.operand.value.trim(), operator: this.operator.value, value: this.value.value.trim() }
    const missing = row.operand ? (needsValue(row.operator) && !row.value ? this.value : null) : this.operand
    if (missing) return missing.focus()
    this.element.open = false
    this.onSave(this.edited, row)
    return undefined
  }

  async #suggest() {
    const operand = this.operand.value.trim()
    const listed = VALUES[operand] ?? this.known[operand]
    const isPath = operand && !listed && !FIELDS.includes(operand)
    const found = listed ?? (isPath ? await this.valuesOf(operand) : [])
    if (operand !== this.operand.value.trim()) return
    this.values.replaceChildren(...found.slice(0, MAX_VALUES).map((value) => new Option(value, value)))
  }

  #offer(paths) {
    const fields = [...FIELDS, "tags"].map((field) => new Option(unitOf(field) || field, field))
    const names = paths.map(([path]) => (FIELDS.includes(path) ? writtenPath(path) : path))
    this.paths.replaceChildren(...fields, ...names.map((name) => new Option(name, name)))
  }
}
