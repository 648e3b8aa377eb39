// Charts of several runs, on the comparison page or next to the runs list, with arrangement.
//
// The event "charts-listed" on the element announces replaced charts. The element fires
// "charts-back" with the URL parameters restored by undo; preventDefault() avoids a reload.
import { ArrangedPage } from "./arranged_page.js"
import { arranging } from "./arranging.js"

const OPTIONS = ["axis", "over", "log", "logx", "clip", "bare", "smoothing", "smoother", "low", "high", "together", "colour", "dash", "chart", "text", "regex"]
const CHANGES = ["change", "click", "input", "chart-zoom"]

export default function comparedCharts(list) {
  // Next to the runs list they load after the page.
  if (list.querySelector('[data-part="sections"]')) start(list)
  else list.addEventListener("charts-listed", () => start(list), { once: true })
}

function start(list) {
  const isBeside = list.matches("[data-url]")
  const page = new ArrangedPage(list, {
    names: OPTIONS,
    of: new URLSearchParams(location.search).get("runs") ?? "",
    // The form above submits the page again and sends defaults as well.
    goesOn: !isBeside,
    isUsual: (value) => !isBeside && (value === "" || value === "0"),
    async goBack(parameters, arrangement) {
      page.set(parameters)
      if (arrangement !== null) {
        page.arrange(arrangement)
        page.arranged()
        await page.save()
      }
      const back = new CustomEvent("charts-back", { cancelable: true, detail: parameters })
      if (list.dispatchEvent(back)) location.reload()
    },
  })
  const { shelf } = arranging(page)
  for (const name of CHANGES) list.addEventListener(name, () => page.changed())
  list.addEventListener("charts-listed", () => {
    // Another page may have changed the arrangement; unsaved local changes win.
    if (!page.unsaved) page.arrange(JSON.parse(page.data.layout || "{}"))
    shelf.look()
  })
}
