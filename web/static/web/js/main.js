// Connects what is on a page with its behaviours, on load and after each htmx swap.

import { connect } from "./connecting.js"
import { nameWhatPollsHold, pollWhileSeen } from "./polls.js"
import { sayRefusals } from "./refusals.js"
import { showSkeletons } from "./skeletons.js"

document.addEventListener("htmx:after:process", (event) => connect(event.target))

sayRefusals()
pollWhileSeen()
nameWhatPollsHold()
showSkeletons()

// Whoever drives the page, such as its tests, reads here that it answers clicks and keys.
connect(document).then(() => {
  document.documentElement.dataset.connected = ""
  document.dispatchEvent(new Event("connected"))
})
