// How charts are drawn and arranged goes one change back, and forward again, by keys. It
// lasts as long as the tab: an arrangement that comes back is drawn by the server.
import { Arrangement } from "../models/arrangement.js"
import { ChangeHistory } from "../models/change_history.js"
import { toast } from "../toasts.js"
import { gettext } from "../texts.js"

// A slider that is drawn is one change.
const SETTLED_MS = 400

// Returns what is to be called after each change. `names` are those of the address.
export function undoable(page, names) {
  const stored = `chart-changes:${location.pathname}`
  const state = () => {
    const options = names.filter((name) => page.options.has(name)).map((name) => [name, page.options.get(name)])
    return JSON.stringify({ options, arrangement: page.arrangement.body })
  }
  const changes = new ChangeHistory(state(), sessionStorage.getItem(stored) ?? "")
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
    if (isArranged) return page.redraw(said)
    page.set(said)
    page.arrangement = new Arrangement(arrangement)
    page.arranged()
    await page.save()
    location.reload()
  }

  page.list.addEventListener("undo", () => go(-1))
  page.list.addEventListener("redo", () => go(1))
  return () => {
    clearTimeout(settling)
    settling = setTimeout(settle, SETTLED_MS)
  }
}
