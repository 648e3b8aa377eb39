// Menu that saves the page as a single file, in the print layout.
import { placeBeside } from "../core/placement.js"
import { moveFocus } from "../core/menu.js"
import { toPaper, toScreen } from "./print_layout.js"
import { gettext } from "../core/texts.js"
import { toast } from "../core/toasts.js"
import { loadAll } from "./print.js"

export default function savePageMenu(button) {
  const panel = document.getElementById(button.getAttribute("aria-controls"))
  const items = [...panel.querySelectorAll("[data-format]")]
  button.hidden = false
  button.addEventListener("click", () => {
    panel.showPopover()
    placeBeside(panel, button)
    items[0].focus()
  })
  panel.addEventListener("keydown", (event) => moveFocus(event, items))
  panel.addEventListener("click", async ({ target }) => {
    const { format } = target.closest("[data-format]")?.dataset ?? {}
    if (!format || button.disabled) return
    panel.hidePopover()
    button.disabled = true
    try {
      await save(format)
    } catch (error) {
      toast(gettext("The page could not be saved: %(why)s", { why: error.message }), { isError: true })
    } finally {
      toScreen()
      button.disabled = false
      button.focus({ preventScroll: true })
    }
  })
}

async function save(format) {
  toPaper()
  const onProgress = (done, all) => toast(gettext("Loading %(done)s of %(all)s charts", { done, all }))
  await loadAll(new AbortController().signal, (done, all) => done === 1 && onProgress(done, all))
  const { savePage } = await import("./chart_files.js")
  const element = document.querySelector("main")
  const title = document.title
  const name = title.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 100) || "page"
  await savePage(element, { name, title, format })
}
