// Keeps Swagger UI's own dark-mode class in sync with the theme.
const prefersDark = matchMedia("(prefers-color-scheme: dark)")

function follow() {
  const { classList, dataset } = document.documentElement
  const isDark = dataset.theme === "auto" ? prefersDark.matches : dataset.theme === "dark"
  classList.toggle("dark-mode", isDark)
}

prefersDark.addEventListener("change", follow)
follow()
