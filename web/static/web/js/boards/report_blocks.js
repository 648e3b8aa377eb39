// Locates the block of a widget in the text of a report. Pure.
const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*seamark\b[^\n]*\n/gm

// Returns the position of the block with these lines, or -1. Of identical blocks, skips the first
// `before`. Lines within a longer block do not count.
export function placeOfBlock(text, lines, before = 0) {
  const places = []
  for (const { index, 0: opening, 1: fence } of text.matchAll(OPENING)) {
    const start = index + opening.length
    if (!text.startsWith(lines, start)) continue
    const rest = text.slice(start + lines.length)
    if (!rest || rest.trimStart().startsWith(fence)) places.push(start)
  }
  return places[before] ?? places[0] ?? -1
}
