// Prints the page once everything on it has been drawn, also what nobody scrolled to.
import { drawAll } from "../charts/draw_queue.js"

const PATIENCE_MS = 30_000
const LOOK_MS = 50

export default function print(button) {
  button.addEventListener("click", async () => {
    button.disabled = true
    const end = Date.now() + PATIENCE_MS
    const top = window.scrollY
    drawAll()
    // What is in a widget is asked for when it comes into view.
    for (const room of document.querySelectorAll(".widget__room")) {
      room.scrollIntoView({ block: "center" })
      await until(() => !room.querySelector(".widget__waiting"), end)
    }
    await until(() => !document.querySelector(".chart:not([data-drawn=true], .chart--failed)"), end)
    window.scrollTo(0, top)
    button.disabled = false
    window.print()
  })
}

async function until(isDone, end) {
  while (!isDone() && Date.now() < end) await new Promise((resume) => setTimeout(resume, LOOK_MS))
}
