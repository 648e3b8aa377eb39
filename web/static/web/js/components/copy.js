// Copies data-copy-text, or the text of the element named by data-copy-from.
import { copyBy } from "../core/clipboard.js"

export default function copy(button) {
  button.addEventListener("click", () => {
    const { copyText, copyFrom } = button.dataset
    copyBy(button, copyText ?? document.getElementById(copyFrom).textContent)
  })
}
