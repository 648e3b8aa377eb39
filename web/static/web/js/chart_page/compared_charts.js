// The charts of several runs, compared or beside their list, as their reader arranges them.
//
// "charts-listed", sent to the element, says that there are others. "charts-back", from it,
// says what the address said before a change that is undone; who prevents its default shows
// that without a new page.
import { ArrangedPage } from "./arranged_page.js"
import { arranging } from "./arranging.js"

const OPTIONS = ["axis", "over", "log", "logx", "clip", "bare", "smoothing", "smoother", "low", "high", "together", "colour", "dash", "chart", "text", "regex"]
const CHANGES = ["change", "click", "input", "chart-zoom"]

export default function comparedCharts(list) {
  // Beside a list of runs they come after the page.
  if (list.querySelector('[data-part="sections"]')) start(list)
  else list.addEventListener("charts-listed", () => start(list), { once: true })
}

function start(list) {
  const isBeside = list.matches("[data-url]")
  const page = new ArrangedPage(list, {
    names: OPTIONS,
    of: new URLSearchParams(location.search).get("runs") ?? "",
    // A form above them asks for the page anew, and names what is as usual, too.
    goesOn: !isBeside,
    isUsual: (value) => !isBeside && (value === "" || value === "0"),
    async goBack(said, arrangement) {
      page.set(said)
      if (arrangement !== null) {
        page.arrange(arrangement)
        page.arranged()
        await page.save()
      }
      const back = new CustomEvent("charts-back", { cancelable: true, detail: said })
      if (list.dispatchEvent(back)) location.reload()
    },
  })
  const { shelf } = arranging(page)
  for (const name of CHANGES) list.addEventListener(name, () => page.changed())
  list.addEventListener("charts-listed", () => {
    // Another page may have arranged them meanwhile; what is not kept yet is newer.
    if (!page.unsaved) page.arrange(JSON.parse(page.data.layout || "{}"))
    shelf.look()
  })
}
