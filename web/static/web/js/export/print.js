// Print button. Loads and draws everything first, including parts not scrolled to, with progress
// and a cancel button. The browser's own print command prints the current state.
import { connect } from "../core/connect.js"
import { icon, createElement } from "../core/elements.js"
import { toPaper, toScreen } from "./print_layout.js"
import { gettext } from "../core/texts.js"

// After this timeout, the page prints without the missing parts.
const TIMEOUT_MS = 20_000
const LOADS_WHEN_SEEN = '[hx-trigger^="intersect once"][aria-busy]'
const MORE_CHARTS = '[open] > [data-part="more"]:not([hidden])'
const CHART = '[data-behaviour~="chart"]'

let sign = null

export default function print(button) {
  button.hidden = false
  button.addEventListener("click", () => sign || start(button))
}

async function start(button) {
  const stop = new AbortController()
  sign = progressDialog(() => stop.abort())
  try {
    toPaper()
    await Promise.race([loadAll(stop.signal, drawing), once(stop.signal, "abort")])
    if (stop.signal.aborted) return
    sign.remove()
    await printed()
  } finally {
    sign.remove()
    sign = null
    toScreen()
    button.focus({ preventScroll: true })
  }
}

function drawing(done, all) {
  sign.firstElementChild.textContent = gettext("Preparing to print: %(done)s of %(all)s charts", { done, all })
}

// Resolves when the page is complete; `say` is called for each chart.
export async function loadAll(signal, onProgress) {
  await withTimeout(TIMEOUT_MS, [...widgets(), ...pictures()])
  await connect(document)
  for (const more of document.querySelectorAll(MORE_CHARTS)) more.click()
  await connect(document)
  if (signal.aborted || !document.querySelector(CHART)) return
  const { drawAll } = await import("./chart_printing.js")
  await drawAll(signal, onProgress)
}

// Parts that htmx loads when they become visible.
function widgets() {
  return [...document.querySelectorAll(LOADS_WHEN_SEEN)].map((widget) => {
    const answered = new Promise((resolve) => {
      document.addEventListener("htmx:finally:request", function listen({ detail }) {
        if (detail.ctx.sourceElement !== widget) return
        document.removeEventListener("htmx:finally:request", listen)
        resolve()
      })
    })
    widget.dispatchEvent(new CustomEvent("intersect"))
    return answered
  })
}

function pictures() {
  return [...document.querySelectorAll("main img")].map((picture) => {
    picture.loading = "eager"
    return picture.decode().catch(() => {})
  })
}

// Resolves after printing. Browsers without "afterprint": any key or click means that the dialog is
// closed.
function printed() {
  const done = ["afterprint", "keydown", "pointerdown"].map((name) => once(window, name))
  window.print()
  return Promise.race(done)
}

function progressDialog(onStop) {
  const element = createElement("div", "printing")
  element.setAttribute("role", "status")
  const button = createElement("button", "button")
  button.type = "button"
  button.append(icon("x"), gettext("Cancel"))
  button.addEventListener("click", onStop)
  element.addEventListener("keydown", ({ key }) => key === "Escape" && onStop())
  element.append(createElement("p", "", gettext("Preparing to print")), button)
  document.body.append(element)
  button.focus({ preventScroll: true })
  return element
}

const once = (target, name) =>
  new Promise((resolve) => target.addEventListener(name, resolve, { once: true }))

const withTimeout = (longest, promises) =>
  Promise.race([Promise.all(promises), new Promise((resolve) => setTimeout(resolve, longest))])
