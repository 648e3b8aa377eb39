// Makes elements. Texts come from strangers, so none of them is ever read as markup.
const SVG = "http://www.w3.org/2000/svg"

export function made(tag, className = "", text = "") {
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

// Screen readers tell a status that is written again, though it says the same.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}
