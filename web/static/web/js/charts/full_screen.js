// Shows one chart over the whole window. Which one is in the page's address.

export function fullScreen(page) {
  let shown = null
  let covered = []

  function open(chart) {
    close()
    shown = chart
    chart.classList.add("chart--full")
    chart.setAttribute("role", "dialog")
    chart.setAttribute("aria-modal", "true")
    chart.setAttribute("aria-label", chart.querySelector(".chart__title").title)
    reflect(true)
    page.set({ full: chart.dataset.chart })
    covered = around(chart)
    for (const each of covered) each.inert = true
  }

  function close() {
    if (!shown) return
    for (const each of covered) each.inert = false
    shown.classList.remove("chart--full")
    for (const name of ["role", "aria-modal", "aria-label"]) shown.removeAttribute(name)
    reflect(false)
    shown.querySelector('[data-do="full"]')?.focus()
    shown = null
    page.set({ full: null })
  }

  function reflect(isFull) {
    const button = shown.querySelector('[data-do="full"]')
    button?.setAttribute("aria-pressed", isFull)
    document.body.classList.toggle("has-full-chart", isFull)
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown && !document.querySelector(":popover-open, dialog[open]")) close()
  })

  const wanted = page.options.get("full")
  const first = wanted && [...page.charts()].find((chart) => chart.dataset.chart === wanted)
  if (first) {
    first.closest("details").open = true
    open(first)
    first.tabIndex = -1
    first.focus()
  }
  return {
    toggle: (chart) => (shown === chart ? close() : open(chart)),
    isShown: (chart) => shown === chart,
    // Before a chart is moved or taken away.
    close,
  }
}

// What the chart covers: whoever leaves it by keyboard would land there. Not what was out
// of reach before.
function around(chart) {
  const found = []
  for (let inner = chart; inner !== document.body; inner = inner.parentElement) {
    const beside = [...inner.parentElement.children].filter((each) => each !== inner)
    found.push(...beside.filter((each) => !each.inert && !each.matches("[popover], dialog, template, script, .toasts")))
  }
  return found
}
