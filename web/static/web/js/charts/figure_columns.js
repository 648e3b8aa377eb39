// Decodes a figure with binary columns (docs/formats/points.md) and takes unsent columns from the
// previous figure.

const MAGIC = 0x01504d53 // "SMP" and version 1 as a big-endian integer
const HEAD_BYTES = 8
const LENGTH_BYTES = 4
const TYPES = {
  f4: Float32Array,
  f8: Float64Array,
  i4: Int32Array,
  i1: Int8Array,
  u1: Uint8Array,
}
const NOTHING = { arrays: [], plain: null }
// Axis ends that move by less than this share of the height stay. Must be below the margin that the
// server adds.
const AXIS_TOLERANCE = 0.05

// Returns the figure, its arrays, its text without numbers, whether that text is unchanged, and the
// version to send with the next request.
export function readFigure(buffer, previous = NOTHING) {
  const view = new DataView(buffer)
  if (view.getUint32(0, true) !== MAGIC) throw new Error("the answer is not a figure")
  const start = HEAD_BYTES + view.getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD_BYTES, start - HEAD_BYTES)))

  const columns = header.columns.map(
    ([type, offset, count]) => new TYPES[type](buffer, start + offset, count),
  )
  const arrays = header.arrays.map(({ column, width, first, last }, number) =>
    joined(previous.arrays, number, columns[column], first * width, last * width),
  )
  const rows = arrays.map((array, number) => rowsOf(array, header.arrays[number].width))
  const plain = header.figure ? steady(header.figure, previous.plain) : previous.plain
  return {
    figure: resolveArrays(plain, rows),
    arrays,
    plain,
    isSame: header.figure === undefined || isDrawnAlike(plain, previous.plain),
    since: header.since,
    version: header.version ?? "",
  }
}

// With outlier clipping the axis moves with nearly every point. Keeps the drawn range while the
// difference is small, to avoid full redraws.
function steady(figure, drawn) {
  const ends = figure.lines && figure.layout.yaxis?.range
  const before = drawn?.lines && drawn.layout.yaxis?.range
  if (!ends || !before) return figure
  const limit = AXIS_TOLERANCE * Math.abs(before[1] - before[0])
  if (!ends.every((end, place) => Math.abs(end - before[place]) <= limit)) return figure
  return { ...figure, layout: { ...figure.layout, yaxis: { ...figure.layout.yaxis, range: before } } }
}

// Ignores notes, which count points, and array indexes, which change when lines stop sharing x
// values.
function isDrawnAlike(figure, other) {
  const words = (some) =>
    JSON.stringify({ ...some, notes: null }, (_, value) => (Number.isInteger(value?.array) ? { array: 0 } : value))
  return other !== null && words(figure) === words(other)
}

// Splits a response of many figures; null stands for an unchanged figure.
export function cutBundle(buffer) {
  const view = new DataView(buffer)
  const figures = []
  for (let at = 0; at < buffer.byteLength; ) {
    const length = view.getUint32(at, true)
    at += LENGTH_BYTES
    figures.push(length ? buffer.slice(at, at + length) : null)
    at += length
  }
  return figures
}

// Reuses an unchanged array, because Plotly compares by identity.
function joined(arrays, number, sent, first, last) {
  if (first + last === 0) return arrays.find((other) => isAlike(other, sent)) ?? sent
  const previous = arrays[number]
  if (previous.length === first + sent.length + last && isPartOf(previous, sent, first)) return previous
  const merged = new sent.constructor(first + sent.length + last)
  merged.set(previous.subarray(0, first))
  merged.set(sent, first)
  merged.set(previous.subarray(previous.length - last), first + sent.length)
  return merged
}

function isAlike(array, sent) {
  return array.constructor === sent.constructor && array.length === sent.length && isPartOf(array, sent, 0)
}

function isPartOf(previous, sent, first) {
  return sent.every((value, index) => Object.is(value, previous[first + index]))
}

function rowsOf(array, width) {
  if (width === 1) return array
  return Array.from({ length: array.length / width }, (_, row) =>
    array.subarray(row * width, (row + 1) * width),
  )
}

function resolveArrays(value, arrays) {
  if (Array.isArray(value)) return value.map((item) => resolveArrays(item, arrays))
  if (value === null || typeof value !== "object") return value
  if (Number.isInteger(value.array)) return arrays[value.array]
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, resolveArrays(item, arrays)]),
  )
}
