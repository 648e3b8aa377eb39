// Undo and redo of chart options and arrangement, by keyboard. The history is kept in session
// storage, because undo may reload the page.
import { ChangeHistory } from "../core/change_history.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

// Dragging a slider is one change.
const SETTLED_MS = 400

// Returns a function to call after each change. `names` are the URL parameters; `of` distinguishes
// pages with the same path; `goesOn` records the state on load as a change; `isUsual` returns
// whether a parameter value is a default.
export function undoable(page, { names, of = "", goesOn = false, isUsual = () => false }) {
  const stored = `chart-changes:${location.pathname}${of}`
  const state = () => {
    const parameters = page.options
    const options = names.filter((name) => parameters.has(name) && !isUsual(parameters.get(name))).map((name) => [name, parameters.get(name)])
    return JSON.stringify({ options, arrangement: page.arrangement.body })
  }
  const changes = new ChangeHistory(state(), sessionStorage.getItem(stored) ?? "", { goesOn })
  const store = () => {
    try {
      sessionStorage.setItem(stored, changes.text)
    } catch {
      // Storage is full: undo does not survive a reload.
      sessionStorage.removeItem(stored)
    }
  }
  let settling

  const settle = () => {
    clearTimeout(settling)
    changes.add(state())
    store()
  }

  async function go(step) {
    settle()
    const target = changes.go(step)
    if (target === null) return toast(step < 0 ? gettext("Nothing to undo.") : gettext("Nothing to redo."))
    store()
    const { options, arrangement } = JSON.parse(target)
    const parameters = Object.fromEntries(names.map((name) => [name, new Map(options).get(name) ?? null]))
    const isArranged = JSON.stringify(arrangement) === JSON.stringify(page.arrangement.body)
    await page.goBack(parameters, isArranged ? null : arrangement)
  }

  page.list.dataset.undoable = ""
  // Continues the history of the previous page.
  if (goesOn) store()
  window.addEventListener("pagehide", settle)
  page.list.addEventListener("undo", () => go(-1))
  page.list.addEventListener("redo", () => go(1))
  return () => {
    clearTimeout(settling)
    settling = setTimeout(settle, SETTLED_MS)
  }
}
