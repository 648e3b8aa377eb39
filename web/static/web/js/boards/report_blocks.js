// Where a widget's block stands in the text of a report. Pure.
const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*seamark\b[^\n]*\n/gm

// The place of the block that says just this, of several the one that so many are before;
// -1 for none. Lines of a longer block are no block of their own.
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
