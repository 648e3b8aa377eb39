// The query as rows of attribute, operator and value, for those who do not type it.
import { Asked } from "./asked.js"
import { icon } from "./elements.js"
import { OPERATORS, needsValue, rowsOf, textOf } from "./query_rows.js"
import { FIELDS, unitOf, writtenPath } from "./query_words.js"
import { gettext } from "../texts.js"

const EMPTY = { operand: "", operator: "<", value: "" }

export class QueryForm {
  constructor(element, { field, address }) {
    this.element = element
    this.field = field
    this.address = address
    this.asked = new Asked((answer) => this.#offer(answer))
    this.list = element.querySelector("[data-part=conditions]")
    this.paths = element.querySelector("datalist")
    this.tooRich = element.querySelector("[data-part=too-rich]")
    this.adder = element.querySelector("[data-part=add-condition]")
    this.adder.addEventListener("click", () => this.#add())
    this.list.addEventListener("input", (event) => this.#changed(event))
    this.list.addEventListener("click", (event) => this.#press(event))
  }

  open() {
    const rows = rowsOf(this.field.value)
    this.tooRich.hidden = rows !== null
    this.list.hidden = this.adder.hidden = rows === null
    this.rows = rows?.length ? rows : [{ ...EMPTY }]
    this.#draw()
    this.list.querySelector("input")?.focus()
    this.asked.now(this.address, { search: "" })
  }

  #add() {
    this.rows.push({ ...EMPTY })
    this.#draw()
    this.list.lastElementChild.querySelector("input").focus()
  }

  #press(event) {
    const button = event.target.closest("button")
    if (!button) return
    this.rows.splice([...this.list.children].indexOf(button.closest("li")), 1)
    if (!this.rows.length) this.rows.push({ ...EMPTY })
    this.#draw()
    this.#write()
  }

  #changed(event) {
    const place = [...this.list.children].indexOf(event.target.closest("li"))
    const name = event.target.name
    this.rows[place][name] = event.target.value
    if (name === "operand") this.asked.soon(this.address, { search: event.target.value })
    if (name === "operator") this.list.children[place].querySelector("[name=value]").hidden = !needsValue(event.target.value)
    this.#write()
  }

  #write() {
    this.field.value = textOf(this.rows)
    this.field.dispatchEvent(new CustomEvent("written", { bubbles: true }))
  }

  #draw() {
    this.list.replaceChildren(...this.rows.map((row, place) => this.#row(row, place)))
  }

  #row({ operand, operator, value }, place) {
    const item = document.createElement("li")
    item.className = "conditions__row"
    const attribute = input("operand", operand, gettext("Attribute of condition %(number)s", { number: place + 1 }))
    attribute.setAttribute("list", this.paths.id)
    attribute.placeholder = "train/loss"
    const choice = document.createElement("select")
    choice.className = "input"
    choice.name = "operator"
    choice.setAttribute("aria-label", gettext("Operator of condition %(number)s", { number: place + 1 }))
    choice.append(...OPERATORS.map(([name, label]) => new Option(label, name, false, name === operator)))
    const wanted = input("value", value, gettext("Value of condition %(number)s", { number: place + 1 }))
    wanted.placeholder = "0.3"
    wanted.hidden = !needsValue(operator)
    const button = document.createElement("button")
    button.type = "button"
    button.className = "button button--quiet button--icon"
    button.setAttribute("aria-label", gettext("Remove condition %(number)s", { number: place + 1 }))
    button.append(icon("x"))
    item.append(attribute, choice, wanted, button)
    return item
  }

  #offer({ paths }) {
    const fields = FIELDS.map((field) => new Option(unitOf(field) || field, field))
    const names = paths.map(([path]) => FIELDS.includes(path) ? writtenPath(path) : path)
    this.paths.replaceChildren(...fields, ...names.map((name) => new Option(name, name)))
  }
}

function input(name, value, label) {
  const element = document.createElement("input")
  element.className = "input"
  element.name = name
  element.value = value
  element.autocomplete = "off"
  element.spellcheck = false
  element.setAttribute("aria-label", label)
  return element
}
