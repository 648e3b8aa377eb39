// A button that prints the page; without a script the browser's own does it.
export default function print(button) {
  button.hidden = false
  button.addEventListener("click", () => window.print())
}
