// What the reader of a page does with its charts: moves, sizes and joins them, and writes at
// their points. Returns the dialog in which series are chosen.

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
