// Calls `then` after htmx has swapped the element with this id. Listens on the document, because
// the requesting element may be gone.
export function afterSwap(id, then) {
  document.addEventListener("htmx:after:swap", ({ detail }) => {
    const { target } = detail.ctx
    if (target === `#${id}` || target?.id === id) then()
  })
}
