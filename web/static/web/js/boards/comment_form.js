// Writing a comment: Ctrl Enter sends it, and what was not sent yet outlives a refusal, a
// reload and a sign-in. htmx leaves the form as it is while all around it is new.
import { setText } from "../core/elements.js"
import { gettext } from "../core/texts.js"

const PREFIX = "comment:"

export default function commentForm(form) {
  const { text } = form.elements
  const error = form.querySelector("[data-part=error]")
  const said = form.querySelector("[data-part=said]")
  const stored = PREFIX + form.dataset.draft
  restore()

  text.addEventListener("input", () => {
    setText(said, "")
    if (text.value === text.defaultValue) sessionStorage.removeItem(stored)
    else keep(stored, text.value)
  })
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener("refused", (event) => {
    event.preventDefault()
    setText(error, gettext("%(why)s What you wrote is kept here.", { why: event.detail }))
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
    // What is changed goes on from what was sent; what is new begins again.
    if (form.dataset.keeps === undefined) text.value = text.defaultValue
    else text.defaultValue = text.value
    setText(said, gettext("Sent."))
    // It may have been folded away by what has come.
    const fold = form.closest("[data-part=fold]")
    if (!fold) return
    fold.open = false
    fold.querySelector("summary").focus()
  }
}

// Nobody who signs in next reads what was typed here.
document.querySelector("[data-part=sign-out]")?.addEventListener("submit", () => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
})

function keep(stored, draft) {
  try {
    sessionStorage.setItem(stored, draft)
  } catch {
    // There is no room for it: it lives as long as the page.
  }
}
