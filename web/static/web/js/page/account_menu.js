// Arrow keys walk through the menu of the account; the browser opens and closes it.
import { walk } from "../core/menu.js"

export default function accountMenu(button) {
  const menu = button.popoverTargetElement
  menu.addEventListener("keydown", (event) => walk(event, [...menu.querySelectorAll(".menu__item")]))
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return
    event.preventDefault()
    menu.showPopover()
    menu.querySelector(".menu__item").focus()
  })
}
