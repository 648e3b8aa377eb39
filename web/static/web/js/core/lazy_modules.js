// Parts of a page that most visits never open: their modules are fetched when somebody
// reaches for them, and weigh nothing until then.
import { gettext } from "./texts.js"
import { toast } from "./toasts.js"

// Returns a function that resolves to what `make` makes, once for all calls; to null where
// its module does not come, until it is asked for again.
export function later(make) {
  let making = null
  return () => {
    making ??= make().catch((error) => {
      making = null
      reportError(error)
      toast(gettext("This part of the page did not come. Try again in a moment."), { isError: true })
      return null
    })
    return making
  }
}

// A panel that a button drops. `make` resolves to what fills it, which is told by `open`
// whenever it is open.
export class Panel {
  #part = null

  constructor(element, make) {
    const made = later(async () => (this.#part = await make()))
    const summary = element.querySelector("summary")
    for (const name of ["pointerenter", "focus"]) summary.addEventListener(name, made)
    element.addEventListener("toggle", async () => {
      if (!element.open) return
      const part = await made()
      if (element.open) part?.open()
    })
  }

  // Of what is there already.
  draw() {
    this.#part?.draw()
  }
}
