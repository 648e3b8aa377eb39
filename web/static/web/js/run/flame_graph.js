// Draws a flame graph: positions the frames, zooms into one, highlights matches of a search, and
// stores both in the page's URL.
//
// Frames are in depth-first order, with data-key, data-depth, data-before and data-share (of all
// samples), data-samples, data-name and data-place.
import { createElement, setText } from "../core/elements.js"
import { percent } from "../core/format.js"
import { setUrlParameters } from "../core/page_address.js"
import { ngettext } from "../core/texts.js"

const ROW = 21
// Pixels; narrower frames have no room for a name.
const NARROW = 22
const MOVES = {
  ArrowLeft: (frame, visible) => inRow(frame, visible, -1),
  ArrowRight: (frame, visible) => inRow(frame, visible, 1),
  ArrowUp: (frame) => frame.caller,
  ArrowDown: (frame, visible) => visible.find((each) => each.caller === frame),
}

export default function flameGraph(section) {
  const part = (name) => section.querySelector(`[data-part="${name}"]`)
  const graph = part("graph")
  const hint = part("detail").textContent
  let zoomedKey = section.dataset.frame
  let frames = readFrames(graph)

  function draw() {
    const zoomed = frames.find(({ key }) => key === zoomedKey) ?? frames[0]
    const callers = [...callersOf(zoomed)]
    let depth = 0
    for (const frame of frames) {
      const isAround = callers.includes(frame)
      const isInside = frame === zoomed || within(frame, zoomed)
      frame.isVisible = isAround || isInside
      frame.element.hidden = !frame.isVisible
      if (!frame.isVisible) continue
      depth = Math.max(depth, frame.depth)
      place(frame, isAround ? { before: 0, share: 1 } : relative(frame, zoomed), graph.clientWidth)
    }
    graph.style.height = `${(depth + 1) * ROW}px`
    drawTrail(zoomed, callers)
    highlight()
  }

  function drawTrail(zoomed, callers) {
    const links = [...callers.reverse(), zoomed].map(({ element }) => {
      const link = createElement("a", "flame__step clip", element.dataset.name)
      link.href = element.href
      link.dataset.key = element.dataset.key
      return link
    })
    links.at(-1).setAttribute("aria-current", "true")
    part("trail").replaceChildren(...(links.length > 1 ? links : []))
  }

  function highlight() {
    const text = part("find").value.trim().toLowerCase()
    graph.classList.toggle("flame--searched", text !== "")
    let count = 0
    let samples = 0
    for (const frame of frames) {
      const { name, place: where } = frame.element.dataset
      frame.isFound = text !== "" && frame.depth > 0 && `${name} ${where}`.toLowerCase().includes(text)
      frame.element.classList.toggle("flame__frame--found", frame.isFound)
      if (!frame.isFound) continue
      count += 1
      // Its samples are those of a found caller, too.
      if (![...callersOf(frame)].some(({ isFound }) => isFound)) samples += Number(frame.element.dataset.samples)
    }
    const share = percent((100 * samples) / Number(section.dataset.samples))
    setText(part("matches"), text ? ngettext("%(share)s in %(count)s frame", "%(share)s in %(count)s frames", count, { share, count }) : "")
  }

  function zoom(key) {
    zoomedKey = key
    section.dataset.frame = key
    setUrlParameters({ frame: key })
    draw()
  }

  function describe(frame) {
    setText(part("detail"), frame ? frame.element.ariaLabel : hint)
  }

  function focus(frame) {
    if (!frame) return
    for (const { element } of frames) element.tabIndex = element === frame.element ? 0 : -1
    frame.element.focus()
  }

  section.addEventListener("click", (event) => {
    const link = event.target.closest("[data-key]")
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    zoom(link.dataset.key)
  })
  graph.addEventListener("keydown", (event) => {
    const frame = frameOf(event.target)
    if (event.key === "Escape" && zoomedKey) return zoom("")
    if (!frame || !MOVES[event.key]) return
    event.preventDefault()
    focus(MOVES[event.key](frame, frames.filter(({ isVisible }) => isVisible)))
  })
  for (const name of ["pointerover", "focusin"]) graph.addEventListener(name, ({ target }) => describe(frameOf(target)))
  for (const name of ["pointerleave", "focusout"]) graph.addEventListener(name, () => describe(null))
  part("find").addEventListener("input", ({ target }) => {
    setUrlParameters({ find: target.value.trim() })
    highlight()
  })

  function frameOf(target) {
    const element = target.closest?.(".flame__frame")
    return frames.find((frame) => frame.element === element)
  }

  new ResizeObserver(draw).observe(graph)
  const ending = new AbortController()
  document.addEventListener("htmx:after:swap", () => {
    if (!section.isConnected) return ending.abort()
    frames = readFrames(graph)
    draw()
  }, { signal: ending.signal })
}

function readFrames(graph) {
  const stack = []
  return [...graph.querySelectorAll(".flame__frame")].map((element) => {
    const { key, depth, before, share } = element.dataset
    const frame = { element, key, depth: Number(depth), before: Number(before), share: Number(share) }
    frame.caller = stack[frame.depth - 1]
    stack[frame.depth] = frame
    return frame
  })
}

function* callersOf(frame) {
  for (let caller = frame.caller; caller; caller = caller.caller) yield caller
}

function within(frame, other) {
  return [...callersOf(frame)].includes(other)
}

function relative(frame, zoomed) {
  return { before: (frame.before - zoomed.before) / zoomed.share, share: frame.share / zoomed.share }
}

function place({ element, depth }, { before, share }, width) {
  element.style.insetInlineStart = `${100 * before}%`
  element.style.width = `${100 * share}%`
  element.style.top = `${depth * ROW}px`
  element.classList.toggle("flame__frame--narrow", share * width < NARROW)
}

function inRow(frame, visible, step) {
  const row = visible.filter(({ depth }) => depth === frame.depth)
  return row[row.indexOf(frame) + step]
}
