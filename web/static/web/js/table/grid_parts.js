// Elements of the runs table, and the content of group rows.
import cutName from "../components/cut_name.js"
import { icon } from "../core/elements.js"
import { change, number } from "../core/format.js"
import { fillText, labelOf, texts } from "./run_columns.js"
import { gettext, interpolate, ngettext } from "../core/texts.js"

export function groupLabel(group, keys, isOpen) {
  const parts = group.values.map((value, place) => {
    const part = createElement("span", "runs-grid__value")
    const name = createElement("span", "muted")
    name.textContent = `${labelOf(keys[place]).split("/").at(-1)} `
    part.append(name, value === null ? gettext("none") : texts(value)[0])
    return part
  })
  const count = createElement("span", "runs-grid__count")
  count.textContent = number(group.count)
  return [icon(isOpen ? "chevron-down" : "chevron-right"), ...parts, count]
}

// Fills the arrow, the number of children and the parent; `nest` is { depth, isOpen } in a
// table of nested runs, otherwise null.
export function fillNest(drawn, row, nest, isNarrow = false) {
  const state = `${nest?.depth} ${nest?.isOpen} ${row?.children} ${row?.parent}`
  if (drawn.nest === state) return
  drawn.nest = state
  const { element, fold, kids, parent } = drawn
  const count = (nest && row?.children) || 0
  const isOpen = Boolean(nest?.isOpen)
  if (nest) element.setAttribute("aria-level", nest.depth + 1)
  else element.removeAttribute("aria-level")
  if (count) element.setAttribute("aria-expanded", String(isOpen))
  else element.removeAttribute("aria-expanded")
  element.style.setProperty("--depth", nest?.depth ?? 0)
  fold.replaceChildren(...(count ? [icon(isOpen ? "chevron-down" : "chevron-right")] : []))
  fold.title = count ? (isOpen ? gettext("Hide children") : gettext("Show children")) : ""
  kids.title = count ? ngettext("%(count)s child", "%(count)s children", count, { count: number(count) }) : ""
  kids.textContent = count && isNarrow ? number(count) : kids.title
  parent.title = row?.parent ?? ""
}

// Links a forked run to the run that it continues; `parts` are those of its name.
export function fillFork(link, fork, parts = []) {
  link.hidden = !fork
  if (!fork) {
    link.removeAttribute("href")
    return link.replaceChildren()
  }
  const name = createElement("span", "runs-grid__source cut")
  name.append(...parts)
  cutName(name)
  link.href = fork.url
  link.title = link.ariaLabel = gettext("Forked from %(run)s at step %(step)s", { run: fork.name, step: number(fork.step) })
  link.replaceChildren(icon("git-fork"), name)
}

export function fillNumbers(cell, numbers, shown, column) {
  if (numbers?.isLeftOut) return fillText(cell, "–", gettext("With this many runs, only the first columns have statistics. Move this column left, or filter the runs."))
  if (!numbers?.count) return fillText(cell, "")
  const labels = {
    mean: gettext("mean %(value)s"),
    lowest: gettext("min %(value)s"),
    highest: gettext("max %(value)s"),
    best: gettext("best %(value)s"),
  }
  const title = Object.keys(labels)
    .filter((name) => numbers[name] !== null)
    .map((name) => interpolate(labels[name], { value: textOf(numbers[name], column) }))
  const value = numbers[shown]
  fillText(cell, value === null ? "" : textOf(value, column), gettext("%(numbers)s; %(count)s values", { numbers: title.join(", "), count: number(numbers.count) }))
}

function textOf(value, { format }) {
  return format && typeof value === "number" ? format(value) : texts(value)[0]
}

// Shows the relative difference from the reference run. Omitted for shares, where a percentage
// would read as percentage points.
export function fillDifference(cell, { isNumeric, isShare, place }, row, reference) {
  const difference = isNumeric && !isShare ? change(row.values[place], reference.values[place]) : ""
  if (!difference) return
  const note = createElement("span", "runs-grid__difference")
  note.textContent = difference
  cell.prepend(note)
  const against = { change: difference, value: texts(reference.values[place])[0], run: reference.name }
  const title = gettext("%(change)s vs. %(value)s of “%(run)s”", against)
  cell.title = cell.title ? `${cell.title}; ${title}` : title
}

export function headCell(key, column, i) {
  const cell = createElement("div", cellClass(i === 0 ? "runs-grid__name" : "runs-grid__cell", column), "columnheader")
  if (column.isPinned) cell.style.setProperty("--left", `${column.left}px`)
  cell.dataset.key = key
  cell.title = column.hint ?? column.label
  cell.setAttribute("aria-colindex", i + 1)
  const label = createElement("span", "runs-grid__label")
  const split = column.label.lastIndexOf("/") + 1
  const space = createElement("span", "runs-grid__namespace")
  space.textContent = column.label.slice(0, split)
  const last = createElement("span", "runs-grid__last")
  last.textContent = column.label.slice(split)
  label.append(space, last)
  if (column.note) {
    const note = createElement("span", "runs-grid__note")
    note.textContent = column.note
    label.append(note)
  }
  cell.append(label, createElement("span", "runs-grid__arrow"))
  if (i === 0) cell.prepend(tickShown())
  if (i > 0 && !column.isFixed) cell.append(menuSign(), createElement("span", "runs-grid__grip"))
  return cell
}

function tickShown() {
  const mark = createElement("span", "runs-grid__mark", "checkbox")
  mark.title = mark.ariaLabel = gettext("Select visible runs")
  return mark
}

function menuSign() {
  const sign = createElement("span", "runs-grid__more")
  sign.append(icon("chevron-down"))
  return sign
}

export function cellClass(name, column) {
  const kinds = { numeric: column.isNumeric, group: column.startsGroup, pinned: column.isPinned }
  const marks = Object.keys(kinds).filter((kind) => kinds[kind])
  return [name, ...marks.map((kind) => `${name}--${kind}`)].join(" ")
}

export function createElement(tag, className, role) {
  const element = document.createElement(tag)
  element.className = className
  if (role) element.setAttribute("role", role)
  return element
}

export function hiddenText(text) {
  const note = createElement("span", "visually-hidden")
  note.textContent = text
  return note
}
