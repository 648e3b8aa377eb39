// Text of a log line with colors and search matches.
import { pieces } from "./ansi.js"
import { made } from "../core/elements.js"
import { ngettext } from "../core/texts.js"

const LONGEST_SHOWN = 2_000

export function lineText(text, wanted) {
  const shown = made("span", "log__text")
  // Embedded line breaks are shown as ⏎.
  const single = text.replace(/\r?\n$/, "").slice(0, LONGEST_SHOWN).replace(/\r?\n|\r/g, " ⏎ ")
  for (const { text: piece, styles } of pieces(single)) {
    const part = made("span", styles.map((style) => `ansi-${style}`).join(" "))
    part.append(...marked(piece, wanted))
    shown.append(part)
  }
  if (text.length > LONGEST_SHOWN) {
    shown.append(made("span", "log__more", ` … ${more(text.length - LONGEST_SHOWN)}`))
  }
  return shown
}

function marked(text, wanted) {
  if (!wanted) return [text]
  const found = []
  const lower = text.toLowerCase()
  let place = 0
  for (;;) {
    const next = lower.indexOf(wanted.toLowerCase(), place)
    // Skip highlighting if lower-casing changes the length.
    if (next < 0 || lower.length !== text.length) break
    found.push(text.slice(place, next), made("mark", "", text.slice(next, next + wanted.length)))
    place = next + wanted.length
  }
  return [...found, text.slice(place)]
}

function more(count) {
  return ngettext("%(count)s more character", "%(count)s more characters", count, { count: count.toLocaleString("en") })
}
