// Text of a log line with colors and search matches.
import { pieces } from "./ansi.js"
import { createElement } from "../core/elements.js"
import { ngettext } from "../core/texts.js"

const MAX_LENGTH = 2_000

export function lineText(text, searched) {
  const shown = createElement("span", "log__text")
  // Embedded line breaks are shown as ⏎.
  const single = text.replace(/\r?\n$/, "").slice(0, MAX_LENGTH).replace(/\r?\n|\r/g, " ⏎ ")
  for (const { text: piece, styles } of pieces(single)) {
    const part = createElement("span", styles.map((style) => `ansi-${style}`).join(" "))
    part.append(...marked(piece, searched))
    shown.append(part)
  }
  if (text.length > MAX_LENGTH) {
    shown.append(createElement("span", "log__more", ` … ${more(text.length - MAX_LENGTH)}`))
  }
  return shown
}

function marked(text, searched) {
  if (!searched) return [text]
  const found = []
  const lower = text.toLowerCase()
  let place = 0
  for (;;) {
    const next = lower.indexOf(searched.toLowerCase(), place)
    // Skip highlighting if lower-casing changes the length.
    if (next < 0 || lower.length !== text.length) break
    found.push(text.slice(place, next), createElement("mark", "", text.slice(next, next + searched.length)))
    place = next + searched.length
  }
  return [...found, text.slice(place)]
}

function more(count) {
  return ngettext("%(count)s more character", "%(count)s more characters", count, { count: count.toLocaleString("en") })
}
