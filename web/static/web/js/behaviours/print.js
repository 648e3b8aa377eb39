// Prints the page once everything on it has been drawn, also what nobody scrolled to.
import { drawAll } from "../charts/draw_queue.js"

const PATIENCE_MS = 15_000
const LOOK_MS = 100

export default function print(button) {
  button.addEventListener("click", async () => {
    button.disabled = true
    const end = Date.now() + PATIENCE_MS
    drawAll()
    for (const room of document.querySelectorAll(".widget__body[hx-trigger^=intersect]")) {
      room.dispatchEvent(new CustomEvent("intersect"))
    }
    await until(() => !document.querySelector(".widget__waiting"), end)
    await until(() => !document.querySelector(".chart:not([data-drawn=true], .chart--failed)"), end)
    button.disabled = false
    window.print()
  })
}

async function until(isDone, end) {
  while (!isDone() && Date.now() < end) await new Promise((resume) => setTimeout(resume, LOOK_MS))
}
