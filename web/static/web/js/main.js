// Connects every element that names behaviours, on load and after each htmx swap.
// A behaviour's module is loaded the first time a page names it.

const BEHAVIOURS = {
  "chart": () => import("./charts/chart.js"),
  "chart-list": () => import("./charts/chart_list.js"),
  "unzoom": () => import("./charts/unzoom.js"),
  "comparison-table": () => import("./behaviours/comparison_table.js"),
  "confirm": () => import("./behaviours/confirm.js"),
  "copy": () => import("./behaviours/copy.js"),
  "filled-dialog": () => import("./behaviours/filled_dialog.js"),
  "filter-rows": () => import("./behaviours/filter_rows.js"),
  "image-steps": () => import("./behaviours/image_steps.js"),
  "log": () => import("./behaviours/log.js"),
  "file-figure": () => import("./charts/file_figure.js"),
  "local-time": () => import("./behaviours/local_time.js"),
  "query-field": () => import("./behaviours/query_field.js"),
  "runs-grid": () => import("./behaviours/runs_grid.js"),
  "show-when-filled": () => import("./behaviours/show_when_filled.js"),
  "submit-on-change": () => import("./behaviours/submit_on_change.js"),
  "tabs": () => import("./behaviours/tabs.js"),
  "theme": () => import("./behaviours/theme.js"),
}

const connected = new WeakMap()

function connect(root) {
  if (!(root instanceof Element || root instanceof Document)) return
  for (const element of [root, ...root.querySelectorAll("[data-behaviour]")]) {
    for (const name of element.dataset?.behaviour?.split(" ") ?? []) start(element, name)
  }
}

async function start(element, name) {
  const started = connected.get(element) ?? new Set()
  if (started.has(name) || !Object.hasOwn(BEHAVIOURS, name)) return
  connected.set(element, started.add(name))

  const behaviour = await BEHAVIOURS[name]()
  behaviour.default(element)
}

// Nobody looks at a hidden page, so it asks the server for nothing. The event is
// stopped on its way down to the element that htmx made it for.
document.addEventListener(
  "every",
  (event) => {
    if (document.hidden) event.stopImmediatePropagation()
  },
  { capture: true },
)
document.addEventListener("htmx:after:process", (event) => connect(event.target))

connect(document)
