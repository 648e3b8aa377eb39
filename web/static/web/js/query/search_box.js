// The search box above the runs table: text for names and tags, and filters as chips. The form's
// fields hold the filter; the chips show the query and legacy parameters.
import { Typeahead } from "../core/typeahead.js"
import { icon, createElement } from "../core/elements.js"
import { mark, stepped } from "../core/active_option.js"
import { labelOfRow, rowsOf, textOf } from "./query_rows.js"
import { FIELDS, writtenPath } from "./query_words.js"
import { gettext } from "../core/texts.js"

const PATTERN = /^\/(.*)\/$/su
const CONDITION = /^\s*([^\s<>=!~]+)\s*(<=|>=|!=|<|>|=|~)\s*(.*)$/su
const OFFERED = 8
const PARAMETERS = {
  state: (value) => ({ operand: "state", operator: "=", value }),
  tag: (value) => ({ operand: "tags", operator: "contains", value }),
  by: (value) => ({ operand: "made_by", operator: "=", value }),
}

export class SearchBox {
  #drawn = ""
  #options = []
  #active = -1

  // `onEdit` gets the filter to edit: { row, replace }.
  constructor(element, { form, address, onChange, onEdit }) {
    this.form = form
    this.address = address
    this.onChange = onChange
    this.onEdit = onEdit
    this.input = form.elements.q
    this.query = form.elements.query
    const part = (name) => element.querySelector(`[data-part="${name}"]`)
    this.chips = part("chips")
    this.regex = part("regex")
    this.list = part("search-options")
    this.toggle = part("query-toggle")
    this.line = part("query-line")
    this.typeahead = new Typeahead(({ paths }) => this.#offer(paths), () => this.#close())
    const pattern = PATTERN.exec(this.input.value)
    if (pattern) this.input.value = pattern[1]
    this.#setRegex(Boolean(pattern))
    this.#listen(part("search"))
    this.draw()
  }

  // The text for the URL; regular expressions are between slashes.
  get text() {
    if (this.#isUnfinished) return ""
    const text = this.input.value.trim()
    return this.#isRegex && text && !PATTERN.test(text) ? `/${text}/` : text
  }

  // Whether the text is incomplete: an open pattern or a condition.
  get #isUnfinished() {
    const text = this.input.value.trim()
    const isHalfPattern = text.startsWith("/") && !text.slice(1).includes("/")
    return !this.#isRegex && (isHalfPattern || CONDITION.test(text))
  }

  clear() {
    this.input.value = ""
    this.#setRegex(false)
    this.#close()
  }

  draw(mistake = null) {
    if (mistake?.field === "query") this.#open(true)
    const filters = this.#filters
    const drawn = JSON.stringify(filters)
    if (drawn === this.#drawn) return
    this.#drawn = drawn
    this.chips.replaceChildren(...filters.map((filter) => this.#chip(filter)))
  }

  // Adds or replaces a filter; a null row removes it.
  replace(filter, row) {
    const rows = rowsOf(this.query.value)
    const added = row ? [row] : []
    if (filter?.parameter) this.form.elements[filter.parameter].value = ""
    if (filter?.isQuery) this.query.value = ""
    else if (rows === null) this.query.value = row ? `(${this.query.value}) and ${textOf(added)}` : this.query.value
    else {
      if (filter?.place === undefined) rows.push(...added)
      else rows.splice(filter.place, 1, ...added)
      this.query.value = textOf(rows)
    }
    this.onChange()
    this.draw()
  }

  get #isRegex() {
    return this.regex.getAttribute("aria-pressed") === "true"
  }

  #setRegex(isRegex) {
    this.regex.setAttribute("aria-pressed", String(isRegex))
  }

  get #filters() {
    const parameters = Object.keys(PARAMETERS)
      .filter((name) => this.form.elements[name].value)
      .map((parameter) => ({ parameter, row: PARAMETERS[parameter](this.form.elements[parameter].value) }))
    const rows = rowsOf(this.query.value)
    if (rows === null) return [...parameters, { isQuery: true }]
    return [...parameters, ...rows.map((row, place) => ({ place, row }))]
  }

  #chip(filter) {
    const text = filter.isQuery ? gettext("query") : labelOfRow(filter.row)
    const item = createElement("li", "search__chip")
    const edit = createElement("button", "search__edit clip", text)
    edit.title = filter.isQuery ? this.query.value : text
    edit.addEventListener("click", () => {
      if (filter.isQuery) this.#open(true, { isFocused: true })
      else this.onEdit(filter)
    })
    const remove = createElement("button", "search__remove")
    remove.setAttribute("aria-label", gettext("Remove filter %(filter)s", { filter: text }))
    remove.append(icon("x"))
    remove.addEventListener("click", () => {
      this.replace(filter, null)
      this.input.focus()
    })
    edit.type = remove.type = "button"
    item.append(edit, remove)
    return item
  }

  #listen(box) {
    box.addEventListener("click", ({ target }) => target === box && this.input.focus())
    this.input.addEventListener("input", () => this.#request())
    this.input.addEventListener("blur", () => this.#close())
    this.input.addEventListener("keydown", (event) => this.#press(event))
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault()
      const option = event.target.closest("[role=option]")
      if (option) this.#take([...this.list.children].indexOf(option))
    })
    this.regex.addEventListener("click", () => {
      this.#setRegex(!this.#isRegex)
      this.input.focus()
      this.onChange()
    })
    this.toggle.addEventListener("click", () => {
      this.toggle.closest("details").open = false
      this.#open(this.line.hidden, { isFocused: true })
    })
  }

  #open(isOpen, { isFocused = false } = {}) {
    this.line.hidden = !isOpen
    this.toggle.setAttribute("aria-expanded", String(isOpen))
    if (isOpen && isFocused) this.query.focus()
  }

  #press(event) {
    const active = this.list.hidden ? undefined : stepped(event.key, this.#active, this.#options.length)
    if (active !== undefined) {
      this.#active = active
      mark(this.input, this.list, active)
    } else if (event.key === "Enter" && !this.list.hidden) {
      this.#take(Math.max(0, this.#active))
    } else if (event.key === "Escape" && !this.list.hidden) {
      this.#close()
    } else if (event.key === "Escape" && this.input.value) {
      this.clear()
      this.onChange()
    } else if (event.key === "Backspace" && !this.input.value && this.#filters.length) {
      this.replace(this.#filters.at(-1), null)
    } else {
      return
    }
    event.preventDefault()
  }

  #request() {
    const condition = this.#isRegex ? null : CONDITION.exec(this.input.value)
    if (!condition) return this.#close()
    this.typeahead.requestSoon(this.address, { search: condition[1] })
  }

  #offer(paths) {
    const [, name, operator, value] = CONDITION.exec(this.input.value) ?? []
    if (!name) return this.#close()
    const fields = FIELDS.filter((field) => field.startsWith(name.toLowerCase()))
    const known = paths.map(([path]) => (FIELDS.includes(path) ? writtenPath(path) : path))
    const operands = [...new Set([...fields, ...known])].slice(0, OFFERED)
    this.#options = (operands.length ? operands : [name]).map((operand) => ({ operand, operator, value: value.trim() }))
    this.#active = 0
    this.list.replaceChildren(
      ...this.#options.map((row, place) => {
        const option = createElement("li", "", labelOfRow(row))
        option.id = `search-option-${place}`
        option.role = "option"
        return option
      }),
    )
    this.#show(document.activeElement === this.input)
  }

  #take(place) {
    const row = this.#options[place]
    this.#close()
    if (row.value) {
      this.input.value = ""
      return this.replace(null, row)
    }
    this.input.value = `${row.operand} ${row.operator} `
    return undefined
  }

  #close() {
    this.typeahead.stop()
    this.#show(false)
  }

  #show(isOpen) {
    this.list.hidden = !isOpen
    this.input.setAttribute("aria-expanded", String(isOpen))
    mark(this.input, this.list, isOpen ? this.#active : -1)
  }
}
