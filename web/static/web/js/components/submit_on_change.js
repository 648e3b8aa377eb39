// Sends a form as soon as something in it is chosen; its button is for everybody else.
// A field names in data-clears those whose values mean nothing beside another one of its own.
export default function submitOnChange(form) {
  form.querySelector("[data-part=submit]").hidden = true
  form.addEventListener("change", ({ target }) => {
    for (const name of target.dataset.clears?.split(" ") ?? []) form.elements[name]?.remove()
    form.requestSubmit()
  })
}
