// Comment form: Ctrl+Enter submits. Drafts survive errors, reloads and sign-in. htmx preserves the
// form when the content around it is replaced.
import { setText } from "../core/elements.js"
import { gettext } from "../core/texts.js"

const PREFIX = "comment:"

export default function commentForm(form) {
  const { text } = form.elements
  const error = form.querySelector("[data-part=error]")
  const status = form.querySelector("[data-part=status]")
  const stored = PREFIX + form.dataset.draft
  restore()

  text.addEventListener("input", () => {
    setText(status, "")
    if (text.value === text.defaultValue) sessionStorage.removeItem(stored)
    else storeDraft(stored, text.value)
  })
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener("refused", (event) => {
    event.preventDefault()
    setText(error, gettext("%(why)s Your text is still here.", { why: event.detail }))
  })
  form.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (ctx.response.raw.ok) arrived()
  })

  function restore() {
    const draft = sessionStorage.getItem(stored)
    if (draft === null || text.value !== text.defaultValue) return
    text.value = draft
    for (let each = form.closest("details"); each; each = each.parentElement.closest("details")) each.open = true
  }

  function arrived() {
    sessionStorage.removeItem(stored)
    setText(error, "")
    // Editing continues with the sent text; a new comment starts empty.
    if (form.dataset.keeps === undefined) text.value = text.defaultValue
    else text.defaultValue = text.value
    setText(status, gettext("Comment saved."))
    // The swap may have collapsed it.
    const fold = form.closest("[data-part=fold]")
    if (!fold) return
    fold.open = false
    fold.querySelector("summary").focus()
  }
}

// Removes drafts on sign-out.
document.querySelector("[data-part=sign-out]")?.addEventListener("submit", () => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
})

function storeDraft(stored, draft) {
  try {
    sessionStorage.setItem(stored, draft)
  } catch {
    // Storage is full: the draft lasts as long as the page.
  }
}
