// Opens or closes every branch of the tree that the button's aria-controls names, also
// those that come later because a branch was opened: no more of them than a page can hold.

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
  // Whoever closes a branch by hand does not want it opened again.
  tree.addEventListener("click", () => (left = 0))
  button.addEventListener("click", () => {
    if (isOpening) {
      left = MAX_OPENED
      unfold()
      return
    }
    // The other button's turn is over.
    tree.dispatchEvent(new Event("click"))
    for (const branch of tree.querySelectorAll("details[open]")) branch.open = false
  })
}
