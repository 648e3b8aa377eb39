// Switches between the browser's time zone and UTC. The browser stores the choice.
import { isUtc, useUtc, zoneName } from "../core/clock.js"
import { gettext } from "../core/texts.js"

export default function timeZone(button) {
  const label = isUtc()
    ? gettext("Times in UTC. Switch to your time zone")
    : gettext("Times in %(zone)s. Switch to UTC", { zone: zoneName() })
  button.title = label
  button.setAttribute("aria-label", label)
  const shown = button.querySelector("[data-part=label]")
  if (shown) shown.textContent = gettext("Time zone: %(zone)s", { zone: zoneName() })
  else button.setAttribute("aria-pressed", isUtc())
  button.addEventListener("click", () => useUtc(!isUtc()))
}
