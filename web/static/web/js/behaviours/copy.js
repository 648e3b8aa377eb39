// Copies data-copy-text, or the text of the element named by data-copy-from; says so.
const SAID_MS = 1_500

export default function copy(button) {
  const label = button.getAttribute("aria-label")

  button.addEventListener("click", async () => {
    const { copyText, copyFrom } = button.dataset
    const text = copyText ?? document.getElementById(copyFrom).textContent
    say(button, (await write(text)) ? "Copied" : "Select and copy by hand")
    setTimeout(() => say(button, label), SAID_MS)
  })
}

async function write(text) {
  try {
    // Absent where the page is neither local nor served over HTTPS.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

function say(button, text) {
  button.setAttribute("aria-label", text)
  button.title = text
  button.dataset.said = text === "Copied" ? "yes" : ""
}
