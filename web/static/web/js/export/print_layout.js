// The page as it goes on paper: in light colours and as wide as a sheet. Until it is printed
// it looks so on the screen, too, where charts measure their places: print.css is for both
// then. "paper" (detail: whether it is on paper now) tells charts of it; what its listeners
// do before they return is printed, however people print.

const sheet = document.querySelector('link[data-part="paper"]')
let isOnPaper = false
let place = { left: 0, top: 0 }

export function toPaper() {
  if (isOnPaper) return
  isOnPaper = true
  place = { left: scrollX, top: scrollY }
  sheet.media = "all"
  tell()
}

export function toScreen() {
  if (!isOnPaper) return
  isOnPaper = false
  sheet.media = "print"
  tell()
  scrollTo(place)
}

export function watchPrinting() {
  addEventListener("beforeprint", toPaper)
  addEventListener("afterprint", toScreen)
}

function tell() {
  document.dispatchEvent(new CustomEvent("paper", { detail: isOnPaper }))
}
