// Copies data-copy-text, or the text of the element named by data-copy-from.
import { copyWithFeedback } from "../core/clipboard.js"

export default function copy(button) {
  button.addEventListener("click", () => {
    const { copyText, copyFrom } = button.dataset
    copyWithFeedback(button, copyText ?? document.getElementById(copyFrom).textContent)
  })
}
