// Connects elements with the behaviours they name. A behaviour's module is loaded the
// first time a page names it.

const BEHAVIOURS = {
  "account-menu": () => import("./behaviours/account_menu.js"),
  "away": () => import("./behaviours/away.js"),
  "chart": () => import("./charts/chart.js"),
  "chart-list": () => import("./charts/chart_list.js"),
  "chart-page": () => import("./charts/chart_page.js"),
  "board": () => import("./behaviours/board.js"),
  "comment-form": () => import("./behaviours/comment_form.js"),
  "comments": () => import("./behaviours/comments.js"),
  "compared-charts": () => import("./charts/compared_charts.js"),
  "comparison-table": () => import("./behaviours/comparison_table.js"),
  "confirm": () => import("./behaviours/confirm.js"),
  "copy": () => import("./behaviours/copy.js"),
  "filled-dialog": () => import("./behaviours/filled_dialog.js"),
  "filter-rows": () => import("./behaviours/filter_rows.js"),
  "findings": () => import("./behaviours/findings.js"),
  "fold-all": () => import("./behaviours/fold_all.js"),
  "going-on": () => import("./behaviours/going_on.js"),
  "image-steps": () => import("./behaviours/image_steps.js"),
  "live-tree": () => import("./behaviours/live_tree.js"),
  "log": () => import("./behaviours/log.js"),
  "drop": () => import("./behaviours/drop.js"),
  "file-figure": () => import("./charts/file_figure.js"),
  "local-time": () => import("./behaviours/local_time.js"),
  "media-panels": () => import("./behaviours/media_panels.js"),
  "media-steps": () => import("./behaviours/media_steps.js"),
  "opens": () => import("./behaviours/opens.js"),
  "palette": () => import("./behaviours/palette.js"),
  "mentions": () => import("./behaviours/mentions.js"),
  "open-points": () => import("./behaviours/open_points.js"),
  "parallel-axes": () => import("./behaviours/parallel_axes.js"),
  "passkey": () => import("./behaviours/passkey.js"),
  "print": () => import("./behaviours/print.js"),
  "query-field": () => import("./behaviours/query_field.js"),
  "range-value": () => import("./behaviours/range_value.js"),
  "repeat": () => import("./behaviours/repeat.js"),
  "report-editor": () => import("./behaviours/report_editor.js"),
  "run-marks": () => import("./charts/run_marks.js"),
  "run-legend": () => import("./behaviours/run_legend.js"),
  "runs-grid": () => import("./behaviours/runs_grid.js"),
  "save-page": () => import("./behaviours/save_page.js"),
  "shortcuts": () => import("./behaviours/shortcuts.js"),
  "show-when-filled": () => import("./behaviours/show_when_filled.js"),
  "sortable": () => import("./behaviours/sortable.js"),
  "stale": () => import("./behaviours/stale.js"),
  "suggest": () => import("./behaviours/suggest.js"),
  "submit-on-change": () => import("./behaviours/submit_on_change.js"),
  "zoom-in-address": () => import("./behaviours/zoom_in_address.js"),
  "tabs": () => import("./behaviours/tabs.js"),
  "theme": () => import("./behaviours/theme.js"),
  "time-zone": () => import("./behaviours/time_zone.js"),
  "toasts": () => import("./behaviours/toasts.js"),
  "wakes": () => import("./behaviours/wakes.js"),
}

// A morph writes the server's text, and what goes on, into elements that stay.
const AGAIN = new Set(["going-on", "local-time", "wakes"])
const connected = new WeakMap()

// Resolves when all in `root` answers clicks and keys, or is known never to.
export function connect(root) {
  if (!(root instanceof Element || root instanceof Document)) return Promise.resolve([])
  const elements = [root, ...root.querySelectorAll("[data-behaviour]")]
  return Promise.all(elements.flatMap((element) =>
    (element.dataset?.behaviour?.split(" ") ?? []).map((name) => connectTo(element, name))))
}

function connectTo(element, name) {
  if (!Object.hasOwn(BEHAVIOURS, name)) return
  if (!connected.has(element)) connected.set(element, new Map())
  const behaviours = connected.get(element)
  if (!behaviours.has(name) || AGAIN.has(name)) behaviours.set(name, start(element, name))
  return behaviours.get(name)
}

async function start(element, name) {
  try {
    const behaviour = await BEHAVIOURS[name]()
    behaviour.default(element)
  } catch (error) {
    // The rest of the page shall answer.
    reportError(error)
  }
}
