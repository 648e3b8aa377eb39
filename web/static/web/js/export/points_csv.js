// Visible points of a chart as CSV, one row per point and line. Values that look like formulas are
// escaped, as in web/csv_answer.py.

const FORMULA = /^[=+\-@\t\r\n]/
const QUOTED = /[",\r\n]/
const FLOAT32_DIGITS = 7

// `places` is the name of the x column.
export function pointsCsv(lines, { places, isTime }) {
  const hasSmooth = lines.some(({ smooth }) => smooth)
  const hasEnds = lines.some(({ low }) => low)
  const rows = [["line", places, "value", hasSmooth && "smooth", hasEnds && "lowest", hasEnds && "highest"]]
  for (const { name, x, y, smooth, low, high } of lines) {
    for (let index = 0; index < x.length; index += 1) {
      rows.push([
        name,
        isTime ? moment(x[index]) : at(x, index),
        at(y, index),
        hasSmooth && at(smooth, index),
        // A single point is its own minimum and maximum.
        hasEnds && at(low ?? y, index),
        hasEnds && at(high ?? y, index),
      ])
    }
  }
  return rows.map((row) => `${row.filter((each) => each !== false).map(cell).join(",")}\r\n`).join("")
}

function moment(milliseconds) {
  return Number.isFinite(milliseconds) ? new Date(milliseconds).toISOString() : ""
}

// Formats a number with its original precision.
function at(values, index) {
  const value = values?.[index]
  if (value === undefined || value === null) return ""
  if (!(values instanceof Float32Array) || !Number.isFinite(value)) return Number(value)
  return Number(value.toPrecision(FLOAT32_DIGITS))
}

function cell(value) {
  if (typeof value === "number") return formatNumber(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Number format of Python and its libraries.
function formatNumber(number) {
  if (Number.isNaN(number)) return "nan"
  return Number.isFinite(number) ? String(number) : number > 0 ? "inf" : "-inf"
}
