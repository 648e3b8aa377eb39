// Charts in print. The browser's own print command redraws drawn charts and shows placeholders of
// the others; `drawAll` draws everything first.

import { forgetColours } from "../charts/colours.js"
import { all, pauseQueue, release } from "../charts/draw_queue.js"
import { gettext } from "../core/texts.js"

// Charts per batch request, and parallel single requests.
const TOGETHER = 40
const ALONE = 4
// Another request may have aborted this one.
const MAX_TRIES = 3

// Charts drawn only for printing are released afterwards, because hundreds of drawn charts would
// slow down the page.
const extra = new Set()

document.addEventListener("paper", ({ detail: isOnPaper }) => {
  forgetColours()
  isOnPaper ? toPaper() : toScreen()
})

// Resolves when every chart on the page has been drawn or has failed.
export async function drawAll(signal, onProgress) {
  const missing = shown().filter(({ isDrawn }) => !isDrawn)
  let done = 0
  const drawAndSay = async (chart) => {
    await draw(chart)
    done += 1
    if (!signal.aborted) onProgress(done, missing.length)
  }
  for (const group of groups(missing)) {
    await Promise.all(group.map(drawAndSay))
    if (signal.aborted) return
  }
  shown().forEach(fitToSheet)
}

async function draw(chart) {
  extra.add(chart)
  for (let left = MAX_TRIES; left && isMissing(chart); left -= 1) await chart.draw()
  delete chart.plot.dataset.undrawn
}

const isMissing = ({ element, isDrawn }) =>
  element.isConnected && !isDrawn && !element.classList.contains("chart--failed")

function groups(charts) {
  const [together, alone] = [true, false].map((isBatched) => charts.filter((chart) => chart.isBatched === isBatched))
  return [...chunks(together, TOGETHER), ...chunks(alone, ALONE)]
}

function chunks(list, size) {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, place) => list.slice(place * size, (place + 1) * size))
}

function toPaper() {
  pauseQueue()
  for (const chart of shown()) {
    // Plotly draws synchronously; only later steps are awaited.
    if (chart.isDrawn) chart.paint(window.Plotly).catch(reportError)
    else if (!isSketched(chart)) {
      chart.plot.dataset.undrawn = gettext("Not loaded when the page was printed. Use the Print button on the page to load everything first.")
    }
    fitToSheet(chart)
  }
}

function toScreen() {
  for (const chart of all()) {
    delete chart.plot.dataset.undrawn
    for (const image of chart.plot.querySelectorAll("svg[data-fits]")) {
      image.removeAttribute("viewBox")
      delete image.dataset.fits
    }
    if (extra.has(chart) || !chart.isDrawn) chart.forget()
    else chart.repaint().catch(reportError)
  }
  extra.clear()
  release()
}

// Uses the width of the sheet, which has no measured size yet.
function isSketched(chart) {
  chart.room = null
  return chart.figure !== null && chart.draft()
}

// Scales charts drawn for another width.
function fitToSheet({ plot }) {
  for (const image of plot.querySelectorAll(".main-svg, .chart__sketch")) {
    image.setAttribute("viewBox", `0 0 ${image.getAttribute("width")} ${image.getAttribute("height")}`)
    image.setAttribute("preserveAspectRatio", "xMinYMin meet")
    image.dataset.fits = ""
  }
}

// Charts in collapsed sections are not printed.
function shown() {
  return all().filter(({ element }) => element.checkVisibility())
}
