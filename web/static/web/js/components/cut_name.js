// Shortens a run name of the class "cut" to its width with one ellipsis. The text stays in the
// document, so that it can be copied and searched; "data-cut" holds the shown text.
//
// Parts that all names share are cut first, then the middle; the end, such as a seed, is kept.
const ELLIPSIS = "…"
const MAX_CACHED_NAMES = 2000
// Font sizes are at least as wide as their ellipsis.
const ELLIPSIS_EM = 1
const ROUNDING = 0.5

const cache = new Map() // font and texts of the parts → measured parts
const observer = new ResizeObserver((entries) => fitAll(entries.map(({ target }) => target)))

document.fonts?.addEventListener("loadingdone", () => {
  cache.clear()
  for (const element of document.querySelectorAll(".cut")) cutName(element)
})

// Fits a name now and whenever its width changes; call it again when its text has changed.
export default function cutName(element) {
  observer.unobserve(element)
  observer.observe(element)
}

// Returns the text to show in `room`, or null if the whole name fits. A part is
// { isCommon, letters, widths }; widths, the room and the ellipsis are in the same unit.
export function shortened(parts, room, ellipsis) {
  if (widthOf(parts) <= room) return null
  const first = parts.findIndex(({ isCommon }) => !isCommon)
  const last = parts.findLastIndex(({ isCommon }) => !isCommon)
  return cutCommon(parts, room, ellipsis)
    ?? cutCommon(parts.slice(first), room, ellipsis)
    ?? cutOwn(parts.slice(first, last + 1), room, ellipsis)
}

// Cuts one part that all names share, or returns null if none of them is long enough.
function cutCommon(parts, room, ellipsis) {
  const excess = widthOf(parts) - room
  if (excess <= 0) return textOf(parts)
  const place = parts.findIndex((part) => part.isCommon && widthOf([part]) >= excess + ellipsis)
  if (place < 0) return null
  const kept = startOf([parts[place]], widthOf([parts[place]]) - excess - ellipsis)
  return joined(textOf(parts.slice(0, place)) + kept, textOf(parts.slice(place + 1)))
}

function cutOwn(parts, room, ellipsis) {
  if (widthOf(parts) <= room) return textOf(parts)
  const end = parts.at(-1)
  const left = room - ellipsis - widthOf([end])
  if (left >= 0) return joined(startOf(parts.slice(0, -1), left), textOf([end]))
  const turned = { letters: end.letters.toReversed(), widths: end.widths.toReversed() }
  return joined("", Array.from(startOf([turned], room - ellipsis)).reverse().join(""))
}

function joined(start, end) {
  return start.trimEnd() + ELLIPSIS + end.trimStart()
}

function startOf(parts, room) {
  const letters = parts.flatMap((part) => part.letters)
  let used = 0
  const count = parts.flatMap(({ widths }) => widths).findIndex((width) => (used += width) > room)
  return letters.slice(0, count < 0 ? letters.length : count).join("")
}

function widthOf(parts) {
  return parts.flatMap(({ widths }) => widths).reduce((sum, width) => sum + width, 0)
}

function textOf(parts) {
  return parts.flatMap(({ letters }) => letters).join("")
}

// Reads all widths before it writes, so that the layout is computed once.
function fitAll(elements) {
  const texts = elements.map((element) => {
    if (fits(element)) return null
    const parts = measured(element)
    return shortened(parts, roomOf(element), parts.ellipsis)
  })
  for (const [place, element] of elements.entries()) {
    if (texts[place] === null) delete element.dataset.cut
    else element.dataset.cut = texts[place]
  }
}

// Most names fit; their letters need no measuring.
function fits(element) {
  return Array.from(element.children).every((part) => part.scrollWidth <= part.clientWidth)
}

function roomOf(element) {
  const boxes = Array.from(element.children, (part) => part.getBoundingClientRect())
  if (!boxes.length) return 0
  const own = element.getBoundingClientRect()
  const left = Math.max(own.left, Math.min(...boxes.map((box) => box.left)))
  const right = Math.min(own.right, Math.max(...boxes.map((box) => box.right)))
  return right - left + ROUNDING
}

function measured(element) {
  const { fontSize, fontWeight, fontFamily } = getComputedStyle(element)
  const children = Array.from(element.children)
  const key = [fontSize, fontWeight, fontFamily, ...children.map((part) => part.className + part.textContent)].join("\n")
  const known = cache.get(key)
  if (known) return known
  if (cache.size >= MAX_CACHED_NAMES) cache.clear()
  const parts = children.map((part) => ({ isCommon: part.classList.contains("cut__common"), ...measuredText(part) }))
  parts.ellipsis = Number.parseFloat(fontSize) * ELLIPSIS_EM
  if (widthOf(parts) > 0) cache.set(key, parts)
  return parts
}

function measuredText(part) {
  const node = part.firstChild
  const letters = Array.from(node?.data ?? "")
  const range = document.createRange()
  let offset = 0
  let before = 0
  const widths = letters.map((letter) => {
    offset += letter.length
    range.setStart(node, 0)
    range.setEnd(node, offset)
    const { width } = range.getBoundingClientRect()
    const own = width - before
    before = width
    return own
  })
  return { letters, widths }
}
