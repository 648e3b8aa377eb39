// Wakes what does not ask any more, or seldom, once an answer says that things go on: what
// was preempted is running again, or a run has joined those that a widget shows. Morphs
// leave figures and logs alone, so they hear it here.
//
// data-goes-on  "true" while what is shown may soon be something else
// data-wakes    "page": all that the page shows; else the figures within, which every
//               answer may have changed
import { poll } from "../core/polls.js"

const before = new WeakMap()

export default function wakes(element) {
  const was = before.get(element)
  const { goesOn, wakes: what } = element.dataset
  before.set(element, goesOn)
  if (was === undefined) return
  if (what !== "page") {
    for (const figure of element.querySelectorAll("figure[data-live]")) wake(figure, goesOn)
  } else if (goesOn === "true" && was !== "true") {
    for (const each of document.querySelectorAll("main [data-live]")) wake(each, goesOn)
    for (const each of document.querySelectorAll('main [hx-trigger*="every"]')) {
      if (each !== element) poll(each)
    }
  }
}

function wake(element, isLive) {
  element.dataset.live = isLive
  element.dispatchEvent(new CustomEvent("chart-refresh"))
}
