// Calls `then` whenever htmx has put something new into the element of this id. htmx says
// so to the element that asked, which may be gone by now.
export function afterSwap(id, then) {
  document.addEventListener("htmx:after:swap", ({ detail }) => {
    const { target } = detail.ctx
    if (target === `#${id}` || target?.id === id) then()
  })
}
