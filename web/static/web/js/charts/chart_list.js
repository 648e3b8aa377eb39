// The bar above a list of charts: what is shown, over which axis, how smooth, how far
// zoomed. All of it is in the page's address, so that a link shows the same.

const WAIT_MS = 150
const FIGURE_OPTIONS = ["axis", "log", "smoothing", "low", "high"]

export default function chartList(list) {
  const part = (name) => list.querySelector(`[data-part="${name}"]`)
  const address = new URL(location.href)
  const options = address.searchParams

  const search = list.querySelector('input[name="search"]')
  search.addEventListener("input", () => {
    set({ search: search.value || null })
    show(list, part, search.value)
  })
  for (const button of list.querySelectorAll("[data-axis]")) {
    // The same numbers mean another range on another axis.
    button.addEventListener("click", () =>
      redraw({ axis: button.dataset.axis, low: null, high: null }),
    )
  }
  part("log").addEventListener("click", () =>
    redraw({ log: options.get("log") === "1" ? null : "1" }),
  )
  part("unzoom").addEventListener("click", () => redraw({ low: null, high: null }))

  let waiting
  part("smoothing").addEventListener("input", ({ target }) => {
    target.nextElementSibling.value = Number(target.value).toFixed(2)
    clearTimeout(waiting)
    waiting = setTimeout(() => redraw({ smoothing: +target.value ? target.value : null }), WAIT_MS)
  })
  list.addEventListener("chart-zoom", (event) => {
    event.preventDefault()
    redraw({ low: event.detail?.low ?? null, high: event.detail?.high ?? null })
  })

  function set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      value === null ? options.delete(name) : options.set(name, value)
    }
    history.replaceState(history.state, "", address)
  }

  function redraw(changes) {
    set(changes)
    const query = new URLSearchParams(
      FIGURE_OPTIONS.filter((name) => options.has(name)).map((name) => [name, options.get(name)]),
    )
    list.dataset.chartQuery = query
    reflect(list, part, options)
    for (const chart of list.querySelectorAll('[data-behaviour="chart"]')) {
      chart.dispatchEvent(new CustomEvent("chart-refresh"))
    }
  }
}

function reflect(list, part, options) {
  const axis = options.get("axis") ?? "step"
  for (const button of list.querySelectorAll("[data-axis]")) {
    button.setAttribute("aria-pressed", button.dataset.axis === axis)
  }
  part("log").setAttribute("aria-pressed", options.get("log") === "1")
  part("unzoom").hidden = !options.has("low")
}

function show(list, part, text) {
  const wanted = text.toLowerCase()
  let count = 0
  for (const section of list.querySelectorAll('[data-part="section"]')) {
    let inSection = 0
    for (const chart of section.querySelectorAll("[data-path]")) {
      chart.hidden = !chart.dataset.path.toLowerCase().includes(wanted)
      if (!chart.hidden) inSection += 1
    }
    section.hidden = inSection === 0
    count += inSection
    // What was searched for must not stay folded away.
    if (wanted && inSection) section.open = true
  }
  part("none").hidden = count > 0
  part("count").textContent = `${count} series`
}
