// Sends a form as soon as something in it is chosen; its button is for everybody else.
export default function submitOnChange(form) {
  form.querySelector("[data-part=submit]").hidden = true
  form.addEventListener("change", () => form.requestSubmit())
}
