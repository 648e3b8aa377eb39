// Submits a form on change; its button is the fallback without scripts. data-clears lists the
// fields that a change resets.
export default function submitOnChange(form) {
  form.querySelector("[data-part=submit]").hidden = true
  form.addEventListener("change", ({ target }) => {
    for (const name of target.dataset.clears?.split(" ") ?? []) form.elements[name]?.remove()
    form.requestSubmit()
  })
}
