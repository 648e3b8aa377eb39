// Reads point clouds and projects them onto a picture. No drawing and no page.

// docs/formats/point-cloud.md
const HEAD_BYTES = 20
const MAGIC = 0x43504d53 // "SMPC", little-endian
const MAX_POINTS = 100_000
const WITH_VALUE = 1
const WITH_COLOR = 2
// Distance of the eye, in radii of the cloud; nearer points look larger.
const EYE = 3.2
// Share of the background in the color of the farthest points.
const HAZE = 0.55
// Viridis at even distances, as in run-media.css.
const SHADES = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
]

// Returns null for other bytes.
export function readCloud(buffer) {
  const head = new DataView(buffer)
  if (buffer.byteLength < HEAD_BYTES || head.getUint32(0, true) !== MAGIC || head.getUint8(4) !== 1) return null
  const form = head.getUint8(5)
  const count = head.getUint32(8, true)
  const coordinates = HEAD_BYTES + 12 * count
  const more = { [WITH_VALUE]: 4, [WITH_COLOR]: 3 }[form] ?? 0
  if (count > MAX_POINTS || buffer.byteLength !== coordinates + more * count) return null
  const column = (place) => new Float32Array(buffer, HEAD_BYTES + 4 * place * count, count)
  const [x, y, z] = [column(0), column(1), column(2)]
  return {
    count,
    total: Number(head.getBigUint64(12, true)),
    x, y, z,
    bounds: [x, y, z].map(boundsOf),
    values: form === WITH_VALUE ? column(3) : null,
    colors: form === WITH_COLOR ? new Uint8Array(buffer, coordinates) : null,
  }
}

export function boundsOf(column) {
  let [low, high] = [Infinity, -Infinity]
  for (const value of column) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return column.length ? [low, high] : [0, 0]
}

// Returns the red, green and blue of each point.
export function colorsOf({ count, values, colors }, plain) {
  if (colors) return colors
  const found = new Uint8Array(3 * count)
  const [low, high] = values ? boundsOf(values) : [0, 0]
  for (let index = 0; index < count; index++) {
    found.set(values ? shadeAt((values[index] - low) / (high - low || 1)) : plain, 3 * index)
  }
  return found
}

function shadeAt(share) {
  const place = share * (SHADES.length - 1)
  const index = Math.min(SHADES.length - 2, Math.floor(place))
  const [from, to] = [SHADES[index], SHADES[index + 1]]
  return from.map((part, number) => part + (place - index) * (to[number] - part))
}

// Returns a function from coordinates to the place on a picture of this size, and the depth.
export function projection({ bounds }, { turn, tilt, zoom }, width, height) {
  const middle = bounds.map(([low, high]) => low / 2 + high / 2)
  const radius = Math.hypot(...bounds.map(([low, high]) => high / 2 - low / 2)) || 1
  const [cosTurn, sinTurn, cosTilt, sinTilt] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)]
  const size = (Math.min(width, height) / 2) * EYE * 0.94 * zoom
  return (x, y, z) => {
    const [a, b, c] = [(x - middle[0]) / radius, (y - middle[1]) / radius, (z - middle[2]) / radius]
    const right = a * cosTurn + b * sinTurn
    const back = b * cosTurn - a * sinTurn
    const up = c * cosTilt + back * sinTilt
    const depth = EYE + back * cosTilt - c * sinTilt
    const factor = size / depth
    return [width / 2 + right * factor, height / 2 - up * factor, depth]
  }
}

// Draws the points as squares of `side` pixels, the nearest in front; far ones fade to `haze`.
export function paint(picture, cloud, colors, project, { side, haze }) {
  const { width, height } = picture
  const pixels = new Uint32Array(picture.data.buffer)
  pixels.fill(0)
  const depths = new Float32Array(width * height).fill(Infinity)
  for (let index = 0; index < cloud.count; index++) {
    const [left, top, depth] = project(cloud.x[index], cloud.y[index], cloud.z[index])
    if (depth <= 0) continue
    const far = HAZE * Math.min(1, Math.max(0, (depth - EYE + 1) / 2))
    const mixed = (part) => colors[3 * index + part] * (1 - far) + haze[part] * far
    const color = (255 << 24) | (mixed(2) << 16) | (mixed(1) << 8) | mixed(0)
    const [firstX, firstY] = [Math.round(left - side / 2), Math.round(top - side / 2)]
    for (let y = Math.max(0, firstY); y < Math.min(height, firstY + side); y++) {
      for (let x = Math.max(0, firstX); x < Math.min(width, firstX + side); x++) {
        const place = y * width + x
        if (depth >= depths[place]) continue
        depths[place] = depth
        pixels[place] = color
      }
    }
  }
}
