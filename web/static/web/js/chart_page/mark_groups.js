// Groups overlapping marks of an axis.

// Groups marks by position; `left` is in pixels. A group is no wider than `most`, so that it stays
// close to its marks.
export function grouped(marks, maxWidth) {
  const groups = []
  for (const mark of [...marks].sort((one, other) => one.left - other.left)) {
    const last = groups.at(-1)
    if (last && mark.left - last.marks[0].left < maxWidth) last.marks.push(mark)
    else groups.push({ marks: [mark] })
  }
  for (const group of groups) {
    const sum = group.marks.reduce((total, { left }) => total + left, 0)
    group.left = sum / group.marks.length
  }
  return groups
}

// Axis position of a mark; null without one, for example on a series axis.
export function placeOf(mark, axis) {
  return { step: mark.step, time: mark.time, relative: mark.relative }[axis] ?? null
}

// Lines of a figure by the slot of their run.
export function linesBySlot({ lines, slots }) {
  const found = new Map()
  for (const line of lines) {
    for (const slot of slots[line.trace] ?? []) found.set(slot, [...(found.get(slot) ?? []), line])
  }
  return found
}

// Whether a line shows a mark. Marks without a path apply to all logged series, but hardware
// metrics have separate steps.
export function isOf(mark, path, axis) {
  if (mark.path !== null) return mark.path === path
  return axis !== "step" || !path.startsWith("monitoring/")
}
