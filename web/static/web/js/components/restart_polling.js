// Restarts polling of parts that have stopped or slowed down, when a response reports activity: a
// preempted run has resumed, or a widget got a new run. Morphs skip charts and logs, so they are
// notified here.
//
// data-goes-on  "true" while the content may change
// data-wakes    "page": restarts all parts of the page; otherwise the charts within, which every
//               response may have replaced
import { poll } from "../core/polls.js"

const before = new WeakMap()

export default function restartPolling(element) {
  const was = before.get(element)
  const { goesOn, wakes: scope } = element.dataset
  before.set(element, goesOn)
  if (was === undefined) return
  if (scope !== "page") {
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
