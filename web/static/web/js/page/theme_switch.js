// Cycles through the themes and stores the choice. Charts listen for "themechange".
import { watchPrinting } from "../export/print_layout.js"
import { gettext } from "../core/texts.js"

const ORDER = ["auto", "light", "dark"]
const LABELS = { auto: gettext("Theme: system"), light: gettext("Theme: light"), dark: gettext("Theme: dark") }

export default function theme(button) {
  label(button)

  button.addEventListener("click", () => {
    const position = ORDER.indexOf(document.documentElement.dataset.theme)
    const next = ORDER[(position + 1) % ORDER.length]
    localStorage.setItem("theme", next)
    document.documentElement.dataset.theme = next
    announce()
    label(button)
  })
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce)
  // Print is always light.
  watchPrinting()
}

function label(button) {
  const text = LABELS[document.documentElement.dataset.theme] ?? LABELS.auto
  const shown = button.querySelector("[data-part=label]")
  if (shown) {
    shown.textContent = text
    return
  }
  button.setAttribute("aria-label", text)
  button.title = text
}

function announce() {
  document.dispatchEvent(new CustomEvent("themechange"))
}
