// Swagger UI knows its dark colours by a class of its own; this keeps it in step.
const prefersDark = matchMedia("(prefers-color-scheme: dark)")

function follow() {
  const { classList, dataset } = document.documentElement
  const isDark = dataset.theme === "auto" ? prefersDark.matches : dataset.theme === "dark"
  classList.toggle("dark-mode", isDark)
}

prefersDark.addEventListener("change", follow)
follow()
