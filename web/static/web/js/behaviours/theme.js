// Steps through the themes and remembers the choice. Charts listen for "themechange".
const ORDER = ["auto", "light", "dark"]
const LABELS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" }

export default function theme(button) {
  label(button)

  button.addEventListener("click", () => {
    const root = document.documentElement
    const position = ORDER.indexOf(root.dataset.theme)
    root.dataset.theme = ORDER[(position + 1) % ORDER.length]
    localStorage.setItem("theme", root.dataset.theme)
    label(button)
    announce()
  })
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce)
}

function label(button) {
  const text = LABELS[document.documentElement.dataset.theme] ?? LABELS.auto
  button.setAttribute("aria-label", text)
  button.title = text
}

function announce() {
  document.dispatchEvent(new CustomEvent("themechange"))
}
