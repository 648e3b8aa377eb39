// Copies the content of a page without scripts, forms, hidden parts and data URLs. Images are
// embedded.

const DROPPED = "script, template, dialog, form, button, input, select, textarea, [popover], svg:has(use), .report:not(.report--with-comments) .comments"
const ATTRIBUTES = /^(on|hx-|data-behaviour|data-.*url|data-layout|data-rest|srcset|loading)/

// Returns the copy, and pairs of each chart and its empty counterpart in the copy.
export async function copyOf(element) {
  const copy = element.cloneNode(true)
  const twins = copy.querySelectorAll("*")
  const removed = []
  const plots = []
  const pictures = []
  for (const [place, original] of element.querySelectorAll("*").entries()) {
    const twin = twins[place]
    if (original.parentElement.closest(".js-plotly-plot")) continue
    if (original.matches(DROPPED) || !original.checkVisibility()) removed.push(twin)
    else if (original.matches(".js-plotly-plot")) plots.push({ plot: original, twin })
    else if (original.matches("img")) pictures.push([original, twin])
    if (original.matches("a[href]")) twin.setAttribute("href", original.href)
    for (const { name } of [...twin.attributes]) if (ATTRIBUTES.test(name)) twin.removeAttribute(name)
  }
  for (const { twin } of plots) twin.replaceChildren()
  for (const twin of removed) twin.remove()
  await Promise.all(pictures.map(([picture, twin]) => embedImage(picture, twin)))
  return { copy, plots: plots.filter(({ twin }) => copy.contains(twin)) }
}

async function embedImage(picture, twin) {
  try {
    const response = await fetch(picture.currentSrc || picture.src)
    if (response.ok) twin.src = await dataAddress(await response.blob())
  } catch {
    // The alternative text stays.
    twin.removeAttribute("src")
  }
}

function dataAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}

// Returns all rules of the page's style sheets. Fonts are not embedded.
export function stylesOf(page) {
  return [...page.styleSheets].map(textOf).join("\n")
}

function textOf(sheet) {
  return [...sheet.cssRules]
    .map((rule) => {
      if (rule instanceof CSSFontFaceRule) return ""
      if (!(rule instanceof CSSImportRule)) return rule.cssText
      const text = textOf(rule.styleSheet)
      return rule.layerName ? `@layer ${rule.layerName} {\n${text}\n}` : text
    })
    .join("\n")
}
