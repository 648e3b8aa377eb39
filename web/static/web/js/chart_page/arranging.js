// Wires up the chart arrangement: move, resize, combine and annotate. Returns the dialog that
// selects series.

import { annotations } from "./chart_annotations.js"
import { cards } from "./chart_cards.js"
import { choice } from "./chart_choice.js"
import { menu } from "./chart_menu.js"
import { panels } from "./panels.js"

export function arranging(page) {
  const choose = choice(page)
  const shelf = cards(page)
  const write = annotations(page)
  menu(page, { choose, shelf, write })
  panels(page)
  window.addEventListener("pagehide", () => page.save())
  return { choose, shelf }
}
