// Expands or collapses all branches of the tree named by aria-controls, including lazily loaded
// ones up to a limit.

const MAX_OPENED = 60

export default function foldAll(button) {
  const tree = document.getElementById(button.getAttribute("aria-controls"))
  const isOpening = button.dataset.fold === "open"
  let left = 0

  const unfold = () => {
    for (const branch of tree.querySelectorAll("details:not([open])")) {
      if (left <= 0) return
      left -= 1
      branch.open = true
    }
  }
  tree.addEventListener("htmx:after:swap", unfold)
  // A manual collapse stops the automatic expansion.
  tree.addEventListener("click", () => (left = 0))
  button.addEventListener("click", () => {
    if (isOpening) {
      left = MAX_OPENED
      unfold()
      return
    }
    // Stops an expansion in progress.
    tree.dispatchEvent(new Event("click"))
    for (const branch of tree.querySelectorAll("details[open]")) branch.open = false
  })
}
