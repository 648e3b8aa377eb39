// Says something at the edge of the page, politely, whatever made it known. A toast that
// offers something stays until it is closed; others go, unless somebody looks at them.
const STAY_MS = 8_000
const AGAIN_MS = 3_000

export function toast(text) {
  const region = document.querySelector(".toasts")
  const element = document.createElement("div")
  element.className = "toast"
  const paragraph = document.createElement("p")
  paragraph.className = "toast__text wrap"
  paragraph.textContent = text
  element.append(paragraph)
  region.append(element)
  leaveSoon(element)
}

export function leaveSoon(element, wait = STAY_MS) {
  setTimeout(() => {
    const isLookedAt = element.matches(":hover, :focus-within") || document.hidden
    isLookedAt ? leaveSoon(element, AGAIN_MS) : element.remove()
  }, wait)
}
