// Writing a report: buttons that write Markdown, widgets that a dialog describes, and the
// draft, which htmx saves while one types and this once more when the page is left.
import { afterSwap } from "../models/swaps.js"

const WAYS = {
  heading: (text) => [lineStart("## "), text || "Heading", ""],
  bold: (text) => ["**", text || "bold", "**"],
  list: (text) => [lineStart("- "), (text || "item").replaceAll("\n", "\n- "), ""],
  link: (text) => ["[", text || "text", "](address)"],
  table: () => [lineStart(""), "| run | note |\n|---|---|\n| a | b |\n", ""],
}
const lineStart = (mark) => ({ mark })

export default function reportEditor(page) {
  const form = page.querySelector("#report-form")
  const text = form.elements.text
  let isSaved = true

  text.addEventListener("input", () => (isSaved = false))
  form.addEventListener("htmx:after:request", () => (isSaved = true))
  form.addEventListener("submit", () => (isSaved = true))
  addEventListener("pagehide", () => {
    if (!isSaved) navigator.sendBeacon(form.dataset.draftUrl, new FormData(form))
  })

  form.addEventListener("click", ({ target }) => {
    const way = target.closest("[data-insert]")?.dataset.insert
    if (way) wrap(text, ...WAYS[way](selected(text)))
  })
  text.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return
    const way = { b: "bold", k: "link" }[event.key]
    if (!way) return
    event.preventDefault()
    wrap(text, ...WAYS[way](selected(text)))
  })

  const inbox = document.getElementById("block-inbox")
  afterSwap(inbox.id, () => {
    const block = inbox.querySelector("[data-part=block]")
    if (!block) return
    put(text, block.dataset.old, block.dataset.new)
    inbox.replaceChildren()
  })
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
  said(text)
}

// In place of the block it was made from, or on lines of its own where the cursor is.
function put(text, old, block) {
  const fence = "```"
  const found = old ? text.value.indexOf(old) : -1
  if (found >= 0) {
    text.setRangeText(block, found, found + old.length, "end")
  } else {
    const before = text.value.slice(0, text.selectionStart)
    const gap = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n"
    text.setRangeText(`${gap}${fence}seamark\n${block}${fence}\n\n`, text.selectionStart, text.selectionEnd, "end")
  }
  said(text)
}

function said(text) {
  text.focus()
  text.dispatchEvent(new Event("input", { bubbles: true }))
}
