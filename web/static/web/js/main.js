// Connects what is on a page with its behaviours, on load and after each htmx swap.

import { connect } from "./connecting.js"
import { nameWhatPollsHold } from "./polls.js"
import { sayRefusals } from "./refusals.js"
import { showSkeletons } from "./skeletons.js"

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

sayRefusals()
nameWhatPollsHold()
showSkeletons()

// Whoever drives the page, such as its tests, reads here that it answers clicks and keys.
connect(document).then(() => {
  document.documentElement.dataset.connected = ""
  document.dispatchEvent(new Event("connected"))
})
