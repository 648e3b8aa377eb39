// Marks that lie together on an axis are one, which says how many they are.

// Groups of marks in order of their place, `left` in pixels; a group is no wider than `most`,
// so that it still stands where its marks are.
export function grouped(marks, most) {
  const groups = []
  for (const mark of [...marks].sort((one, other) => one.left - other.left)) {
    const last = groups.at(-1)
    if (last && mark.left - last.marks[0].left < most) last.marks.push(mark)
    else groups.push({ marks: [mark] })
  }
  for (const group of groups) {
    const sum = group.marks.reduce((total, { left }) => total + left, 0)
    group.left = sum / group.marks.length
  }
  return groups
}

// Where on an axis a mark is; null where it has no place, as on one of another series.
export function placeOf(mark, axis) {
  return { step: mark.step, time: mark.time, relative: mark.relative }[axis] ?? null
}

// The lines of a figure that each run has there, by the run's slot.
export function linesBySlot({ lines, slots }) {
  const found = new Map()
  for (const line of lines) {
    for (const slot of slots[line.trace] ?? []) found.set(slot, [...(found.get(slot) ?? []), line])
  }
  return found
}

// Whether a line of this path shows a mark: what scripts note is said of all they log, and
// what the agent measures has steps of its own.
export function isOf(mark, path, axis) {
  if (mark.path !== null) return mark.path === path
  return axis !== "step" || !path.startsWith("monitoring/")
}
