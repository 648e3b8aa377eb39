// Resolves the theme colors of a figure, given as CSS: var(--run-0).

const TRANSPARENT = "rgba(0, 0, 0, 0)"

const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
const swatch = document.createElement("span")
swatch.hidden = true
document.body.append(swatch)

let cache = new Map()

// The browser resolves any CSS color; Plotly only parses rgba().
export function computed(colour) {
  if (!cache.has(colour)) {
    swatch.style.color = ""
    swatch.style.color = colour
    pen.clearRect(0, 0, 1, 1)
    pen.fillStyle = getComputedStyle(swatch).color
    pen.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data
    cache.set(colour, `rgba(${red}, ${green}, ${blue}, ${alpha / 255})`)
  }
  return cache.get(colour)
}

const isCss = (value) =>
  typeof value === "string" && (value.startsWith("var(") || value.startsWith("color-mix("))

// A copy, because Plotly mutates its input.
function coloured(value, key = "") {
  if (isCss(value) && /color(scale)?$/i.test(key)) return computed(value)
  // Typed arrays are not copied: Plotly compares them by identity.
  if (ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value.map((item) => coloured(item, key))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, coloured(item, name)]),
  )
}

function themedAxis(axis) {
  return {
    gridcolor: computed("color-mix(in srgb, var(--color-line) 70%, transparent)"),
    linecolor: computed("var(--color-line)"),
    tickcolor: computed("var(--color-line)"),
    spikecolor: computed("var(--color-line-strong)"),
    tickfont: { color: computed("var(--color-muted)"), size: 11 },
    ...axis,
    title: {
      ...axis.title,
      font: { color: computed("var(--color-muted)"), size: 11, ...axis.title?.font },
    },
  }
}

export function themed({ data, layout }) {
  const own = coloured(layout)
  const text = { family: getComputedStyle(document.body).fontFamily, size: 12 }
  const axes = Object.entries(own)
    .filter(([name]) => /^[xy]axis\d*$/.test(name))
    .map(([name, axis]) => [name, themedAxis(axis)])
  return {
    data: coloured(data),
    layout: {
      // Opaque, because crosshair outlines use this color and exported images need a background.
      paper_bgcolor: computed("var(--color-surface)"),
      plot_bgcolor: computed("var(--color-surface)"),
      font: { ...text, color: computed("var(--color-text)") },
      hoverlabel: {
        bgcolor: computed("var(--color-surface)"),
        bordercolor: computed("var(--color-line)"),
        font: { ...text, color: computed("var(--color-text)") },
        namelength: -1,
      },
      modebar: {
        bgcolor: TRANSPARENT,
        color: computed("var(--color-line-strong)"),
        activecolor: computed("var(--color-accent)"),
      },
      ...own,
      ...Object.fromEntries(axes),
    },
  }
}

export function onThemeChange(redraw) {
  document.addEventListener("themechange", () => {
    forgetColours()
    redraw()
  })
}

export function forgetColours() {
  cache = new Map()
}
