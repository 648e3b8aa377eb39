// Report editor: Markdown toolbar, widget dialog and draft. htmx saves the draft during typing;
// this script saves it when the page is left.
import { createElement, setText } from "../core/elements.js"
import { placeOfBlock } from "./report_blocks.js"
import { afterSwap } from "../core/swaps.js"
import { gettext } from "../core/texts.js"

const RETRY_MS = 10_000
const MAX_SENT_LAST = 60_000

const WAYS = {
  heading: (text) => [lineStart("## "), text || gettext("Heading"), ""],
  bold: (text) => ["**", text || gettext("bold"), "**"],
  list: (text) => [lineStart("- "), (text || gettext("item")).replaceAll("\n", "\n- "), ""],
  link: (text) => ["[", text || gettext("text"), `](${gettext("address")})`],
  table: () => [lineStart(""), gettext("| run | note |\n|---|---|\n| a | b |\n"), ""],
}
const lineStart = (mark) => ({ mark })

export default function reportEditor(page) {
  const form = page.querySelector("#report-form")
  const text = form.elements.text
  watchDraft(page, form)

  form.addEventListener("click", ({ target }) => {
    const format = target.closest("[data-insert]")?.dataset.insert
    if (format) wrap(text, ...WAYS[format](selected(text)))
    if (target.closest("[data-part=more] [hx-get]")) target.closest("[data-part=more]").open = false
  })
  text.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return
    const format = { b: "bold", k: "link" }[event.key]
    if (!format) return
    event.preventDefault()
    wrap(text, ...WAYS[format](selected(text)))
  })

  // Counts identical blocks before the one whose button was clicked.
  let before = 0
  page.addEventListener("click", ({ target }) => {
    const button = target.closest("#preview [hx-get*='?block=']")
    if (!button) return
    const same = [...page.querySelectorAll("#preview [hx-get]")].filter((each) => requestUrl(each) === requestUrl(button))
    before = same.indexOf(button)
  })
  const inbox = document.getElementById("block-inbox")
  afterSwap(inbox.id, () => {
    const block = inbox.querySelector("[data-part=block]")
    if (!block) return
    insertBlock(text, block.dataset, before)
    inbox.replaceChildren()
  })
}

function requestUrl(button) {
  return button.getAttribute("hx-get")
}

// htmx saves the draft during typing. Reports and retries failed saves, and sends unsaved text when
// the page is left.
function watchDraft(page, form) {
  const written = () => JSON.stringify([form.elements.name.value, form.elements.text.value])
  const isDraft = (event) => event.target === form
  let saved = written()
  let retry

  form.addEventListener("htmx:config:request", (event) => {
    clearTimeout(retry)
    if (isDraft(event)) event.detail.ctx.written = written()
  })
  form.addEventListener("htmx:after:request", (event) => {
    const { ctx } = event.detail
    if (isDraft(event) && ctx.response.raw.ok) saved = ctx.written
  })
  form.addEventListener("refused", (event) => {
    if (!isDraft(event)) return
    event.preventDefault()
    showUnsaved(page.querySelector("#preview"), event.detail)
    retry = setTimeout(() => dispatchInput(form.elements.text), RETRY_MS)
  })
  form.addEventListener("submit", () => (saved = written()))
  addEventListener("pagehide", () => {
    if (written() !== saved) navigator.sendBeacon(form.dataset.draftUrl, new FormData(form))
  })
  // Browsers limit keepalive requests to this size.
  addEventListener("beforeunload", (event) => {
    if (written() !== saved && new Blob([written()]).size > MAX_SENT_LAST) event.preventDefault()
  })
}

function showUnsaved(preview, reason) {
  const state = preview.querySelector("[role=status]") ?? createElement("p", "report-edit__state small")
  state.setAttribute("role", "status")
  setText(state, gettext("Not saved. %(why)s Retrying while this page is open.", { why: reason }))
  preview.prepend(state)
}

function selected({ value, selectionStart, selectionEnd }) {
  return value.slice(selectionStart, selectionEnd)
}

function wrap(text, before, middle, after) {
  const start = text.selectionStart
  const isLine = start === 0 || text.value[start - 1] === "\n"
  const opening = typeof before === "string" ? before : (isLine ? "" : "\n") + before.mark
  text.setRangeText(opening + middle + after, start, text.selectionEnd, "end")
  const first = start + opening.length
  text.setSelectionRange(first, first + middle.length)
  text.focus()
  dispatchInput(text)
}

// Replaces the edited block, or inserts a new one at the cursor.
function insertBlock(text, block, before) {
  const fence = "```"
  const place = block.old ? placeOfBlock(text.value, block.old, before) : -1
  if (place >= 0) {
    text.setRangeText(block.new, place, place + block.old.length, "end")
  } else {
    const ahead = text.value.slice(0, text.selectionStart)
    const gap = ahead === "" || ahead.endsWith("\n\n") ? "" : ahead.endsWith("\n") ? "\n" : "\n\n"
    text.setRangeText(`${gap}${fence}seamark\n${block.new}${fence}\n\n`, text.selectionStart, text.selectionEnd, "end")
  }
  text.focus()
  dispatchInput(text)
}

function dispatchInput(text) {
  text.dispatchEvent(new Event("input", { bubbles: true }))
}
