// How charts are drawn and arranged goes one change back, and forward again, by keys. It
// lasts as long as the tab: what comes back may be drawn by the server, in a new page.
import { ChangeHistory } from "../core/change_history.js"
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

// A slider that is drawn is one change.
const SETTLED_MS = 400

// Returns what is to be called after each change. `names` are those of the address; `of`
// says what the page is about, beside its path; `goesOn` that what is new as the page begins
// is one more change, and `isUsual` which values of the address say nothing.
export function undoable(page, { names, of = "", goesOn = false, isUsual = () => false }) {
  const stored = `chart-changes:${location.pathname}${of}`
  const state = () => {
    const said = page.options
    const options = names.filter((name) => said.has(name) && !isUsual(said.get(name))).map((name) => [name, said.get(name)])
    return JSON.stringify({ options, arrangement: page.arrangement.body })
  }
  const changes = new ChangeHistory(state(), sessionStorage.getItem(stored) ?? "", { goesOn })
  const keep = () => {
    try {
      sessionStorage.setItem(stored, changes.text)
    } catch {
      // Too much for the browser: what comes back with a new page cannot be undone there.
      sessionStorage.removeItem(stored)
    }
  }
  let settling

  const settle = () => {
    clearTimeout(settling)
    changes.add(state())
    keep()
  }

  async function go(step) {
    settle()
    const wanted = changes.go(step)
    if (wanted === null) return toast(step < 0 ? gettext("There is nothing to undo.") : gettext("There is nothing to do again."))
    keep()
    const { options, arrangement } = JSON.parse(wanted)
    const said = Object.fromEntries(names.map((name) => [name, new Map(options).get(name) ?? null]))
    const isArranged = JSON.stringify(arrangement) === JSON.stringify(page.arrangement.body)
    await page.goBack(said, isArranged ? null : arrangement)
  }

  page.list.dataset.undoable = ""
  // The next page goes on from here.
  if (goesOn) keep()
  window.addEventListener("pagehide", settle)
  page.list.addEventListener("undo", () => go(-1))
  page.list.addEventListener("redo", () => go(1))
  return () => {
    clearTimeout(settling)
    settling = setTimeout(settle, SETTLED_MS)
  }
}
