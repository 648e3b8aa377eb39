// Creates elements. User text is never parsed as markup.
const SVG = "http://www.w3.org/2000/svg"

export function createElement(tag, className = "", text = "") {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (text) element.textContent = text
  return element
}

export function icon(name, className = "icon icon--small") {
  const image = document.createElementNS(SVG, "svg")
  image.setAttribute("class", className)
  image.setAttribute("aria-hidden", "true")
  const use = document.createElementNS(SVG, "use")
  use.setAttribute("href", `${document.body.dataset.icons}#${name}`)
  image.append(use)
  return image
}

// Skips unchanged text, because screen readers would announce it again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}
