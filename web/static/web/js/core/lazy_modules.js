// Loads modules of rarely used parts of a page on first use.
import { gettext } from "./texts.js"
import { toast } from "./toasts.js"

// Returns a function that resolves to the result of `make`, created once; resolves to null if the
// module cannot be loaded, and retries on the next call.
export function lazy(make) {
  let making = null
  return () => {
    making ??= make().catch((error) => {
      making = null
      reportError(error)
      toast(gettext("This part of the page could not be loaded. Try again in a moment."), { isError: true })
      return null
    })
    return making
  }
}

// A dropdown panel. `make` resolves to its content, whose `open` is called each time the panel
// opens.
export class Panel {
  #part = null

  constructor(element, make) {
    const load = lazy(async () => (this.#part = await make()))
    const summary = element.querySelector("summary")
    for (const name of ["pointerenter", "focus"]) summary.addEventListener(name, load)
    element.addEventListener("toggle", async () => {
      if (!element.open) return
      const part = await load()
      if (element.open) part?.open()
    })
  }

  // Draws the content if it has been loaded.
  draw() {
    this.#part?.draw()
  }
}
