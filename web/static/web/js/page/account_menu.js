// Arrow keys for the account menu; opening and closing is native.
import { moveFocus } from "../core/menu.js"

export default function accountMenu(button) {
  const menu = button.popoverTargetElement
  menu.addEventListener("keydown", (event) => moveFocus(event, [...menu.querySelectorAll(".menu__item")]))
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return
    event.preventDefault()
    menu.showPopover()
    menu.querySelector(".menu__item").focus()
  })
}
