// Print layout: light colors and the width of a sheet, applied to the screen as well during
// printing, because charts measure their size there. The event "paper" (detail: on or off) notifies
// charts; synchronous changes by its listeners are printed.

const sheet = document.querySelector('link[data-part="paper"]')
let isOnPaper = false
let place = { left: 0, top: 0 }

export function toPaper() {
  if (isOnPaper) return
  isOnPaper = true
  place = { left: scrollX, top: scrollY }
  sheet.media = "all"
  dispatchPaper()
}

export function toScreen() {
  if (!isOnPaper) return
  isOnPaper = false
  sheet.media = "print"
  dispatchPaper()
  scrollTo(place)
}

export function watchPrinting() {
  addEventListener("beforeprint", toPaper)
  addEventListener("afterprint", toScreen)
}

function dispatchPaper() {
  document.dispatchEvent(new CustomEvent("paper", { detail: isOnPaper }))
}
