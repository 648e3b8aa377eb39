// URL parameters of the axes and brushes of parallel coordinates. Pure.
const NAMES = ["dimension", "brush"]

// Pairs of name and value, in the order of the axes.
export function axisFields(axes, windows) {
  return axes.flatMap(({ path }, index) => {
    const window = windows[index]
    const brush = window && ["brush", `${exact(window[0])}:${exact(window[1])}:${path}`]
    return [["dimension", path], ...(brush ? [brush] : [])]
  })
}

// Returns the URL with these axes; `isPart` keeps only axes that it already has.
export function withAxes(href, axes, windows, { isPart = false } = {}) {
  const address = new URL(href)
  const own = new Set(address.searchParams.getAll("dimension"))
  const isIncluded = axes.map(({ path }) => !isPart || own.has(path))
  for (const name of NAMES) address.searchParams.delete(name)
  const fields = axisFields(axes.filter((_, index) => isIncluded[index]), windows.filter((_, index) => isIncluded[index]))
  for (const [name, value] of fields) address.searchParams.append(name, value)
  return address.href
}

function exact(value) {
  return String(Number(value.toPrecision(12)))
}
