// A button that prints the page. First everything on it is loaded and drawn, what nobody has
// scrolled to as well; meanwhile the page says how far that is, and can be told to stop.
// Without a script the browser's own way prints what is there.
import { connect } from "../core/connect.js"
import { icon, made } from "../core/elements.js"
import { toPaper, toScreen } from "./print_layout.js"
import { gettext } from "../core/texts.js"

// Of what does not come; the page is printed without it.
const LONGEST_WAIT_MS = 20_000
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
  sign = said(() => stop.abort())
  try {
    toPaper()
    await Promise.race([whole(stop.signal, drawing), once(stop.signal, "abort")])
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
  sign.firstElementChild.textContent = gettext("Drawing for print: %(done)s of %(all)s charts", { done, all })
}

// Resolves when all of the page is loaded and drawn; `say` hears of each chart.
export async function whole(signal, say) {
  await within(LONGEST_WAIT_MS, [...widgets(), ...pictures()])
  await connect(document)
  for (const more of document.querySelectorAll(MORE_CHARTS)) more.click()
  await connect(document)
  if (signal.aborted || !document.querySelector(CHART)) return
  const { drawAll } = await import("./chart_printing.js")
  await drawAll(signal, say)
}

// What htmx loads once it is seen.
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

// Resolves when the browser has printed, or its window was closed. Where it does not say,
// whoever goes on with the page has done with printing.
function printed() {
  const done = ["afterprint", "keydown", "pointerdown"].map((name) => once(window, name))
  window.print()
  return Promise.race(done)
}

function said(onStop) {
  const element = made("div", "printing")
  element.setAttribute("role", "status")
  const button = made("button", "button")
  button.type = "button"
  button.append(icon("x"), gettext("Cancel"))
  button.addEventListener("click", onStop)
  element.addEventListener("keydown", ({ key }) => key === "Escape" && onStop())
  element.append(made("p", "", gettext("Preparing for print")), button)
  document.body.append(element)
  button.focus({ preventScroll: true })
  return element
}

const once = (target, name) =>
  new Promise((resolve) => target.addEventListener(name, resolve, { once: true }))

const within = (longest, promises) =>
  Promise.race([Promise.all(promises), new Promise((resolve) => setTimeout(resolve, longest))])
