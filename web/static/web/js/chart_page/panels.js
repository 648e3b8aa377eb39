// User-defined panels above the charts. The server renders each; this script stores them in the
// arrangement.
import { toast } from "../core/toasts.js"
import { gettext } from "../core/texts.js"

export function panels(page) {
  let list = null

  function watch() {
    const found = page.part("panel-list")
    if (!found || found === list) return
    list = found
    list.addEventListener("click", ({ target }) => {
      const panel = target.closest('[data-part="remove-panel"]')?.closest("[data-panel]")
      if (panel) remove(panel)
    })
    // Panels may have another axis, so they zoom on their own.
    list.addEventListener("chart-zoom", (event) => event.stopPropagation())
    new MutationObserver(store).observe(list, { childList: true })
  }

  function store() {
    const panels = [...list.querySelectorAll(":scope > [data-panel]")].map(({ dataset }) => JSON.parse(dataset.panel))
    if (JSON.stringify(panels) === JSON.stringify(page.arrangement.panels)) return
    page.arrangement.panels = panels
    page.arranged()
  }

  function remove(panel) {
    const next = panel.nextElementSibling
    panel.remove()
    toast(gettext("Panel removed."), { onUndo: () => list.insertBefore(panel, next?.isConnected ? next : null) })
  }

  watch()
  page.list.addEventListener("charts-listed", watch)
}
