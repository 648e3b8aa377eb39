// Signs in with, confirms with or adds a passkey. The form stays hidden where the browser or the
// host does not support passkeys.
export default function passkey(form) {
  const api = window.PublicKeyCredential
  if (!api?.parseRequestOptionsFromJSON || !isName(location.hostname)) return
  form.hidden = false
  const missing = form.parentElement.querySelector("[data-part=passkey-missing]")
  if (missing) missing.hidden = true
  const error = form.querySelector("[data-part=passkey-error]")

  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    error.hidden = true
    try {
      const credential = await (form.dataset.passkey === "add" ? create(form) : get(form))
      form.elements.credential.value = JSON.stringify(credential)
      form.submit()
    } catch {
      // Canceled, no passkey, or timeout: browsers do not distinguish them.
      error.hidden = false
    }
  })
}

// Passkeys need a host name, not an IP address.
function isName(host) {
  return !/^[\d.]+$|^\[/.test(host)
}

async function create(form) {
  const { publicKey } = (await optionsOf(form)).creation_options
  publicKey.authenticatorSelection = {
    ...publicKey.authenticatorSelection,
    residentKey: "required",
    requireResidentKey: true,
    userVerification: "required",
  }
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey)
  return navigator.credentials.create({ publicKey: options })
}

async function get(form) {
  const { publicKey } = (await optionsOf(form)).request_options
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey)
  return navigator.credentials.get({ publicKey: options })
}

async function optionsOf(form) {
  const { optionsFrom } = form.dataset
  if (!optionsFrom) return JSON.parse(document.getElementById("passkey-options").textContent)
  const response = await fetch(optionsFrom, { headers: { Accept: "application/json" } })
  if (!response.ok) throw new Error(`${response.status}`)
  return response.json()
}
