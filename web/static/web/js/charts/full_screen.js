// Shows one chart over the whole window. Which one is in the page's address.

export function fullScreen(page) {
  let shown = null

  function open(chart) {
    close()
    shown = chart
    chart.classList.add("chart--full")
    chart.setAttribute("role", "dialog")
    chart.setAttribute("aria-modal", "true")
    chart.setAttribute("aria-label", chart.querySelector(".chart__title").title)
    reflect(true)
    page.set({ full: chart.dataset.chart })
    around(chart, true)
  }

  function close() {
    if (!shown) return
    around(shown, false)
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
  }
  return { toggle: (chart) => (shown === chart ? close() : open(chart)) }
}

// Whoever leaves the chart by keyboard would land on what it covers.
function around(chart, isInert) {
  for (let inner = chart; inner !== document.body; inner = inner.parentElement) {
    for (const beside of inner.parentElement.children) {
      if (beside !== inner && !beside.matches("[popover], dialog, template, script")) beside.inert = isInert
    }
  }
}
