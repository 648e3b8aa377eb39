// Positions of moved and resized widgets in a grid of twelve columns.
const COLUMNS = 12
const MIN_WIDTH = 2
const MAX_HEIGHT = 24

const between = (value, lowest, highest) => Math.min(highest, Math.max(lowest, value))

export function movedBy(place, columns, rows) {
  return {
    ...place,
    x: between(place.x + columns, 0, COLUMNS - place.width),
    y: Math.max(0, place.y + rows),
  }
}

export function resizedBy(place, columns, rows) {
  return {
    ...place,
    width: between(place.width + columns, MIN_WIDTH, COLUMNS - place.x),
    height: between(place.height + rows, 1, MAX_HEIGHT),
  }
}

// `columns` and `rows` are fractional pointer distances.
export function placeAt(place, columns, rows) {
  return movedBy(place, Math.round(columns), Math.round(rows))
}

export function resizedTo(place, columns, rows) {
  return resizedBy(place, Math.round(columns), Math.round(rows))
}
