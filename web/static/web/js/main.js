// Connects behaviors on page load and after each htmx swap.

import { BEHAVIOURS } from "./behaviours.js"
import { connect, register } from "./core/connect.js"
import { sendPollVersions, pausePollsWhileHidden } from "./core/polls.js"
import { showRequestErrors } from "./core/request_errors.js"
import { showSkeletons } from "./core/skeletons.js"

register(BEHAVIOURS)
document.addEventListener("htmx:after:process", (event) => connect(event.target))

showRequestErrors()
pausePollsWhileHidden()
sendPollVersions()
showSkeletons()

// Marks the page as ready, for tests and for early_input.js.
connect(document).then(() => {
  document.documentElement.dataset.connected = ""
  document.dispatchEvent(new Event("connected"))
})
