// Expands the finding that the URL hash names.

export default function findings(list) {
  window.addEventListener("hashchange", () => list.isConnected && openNamed(list))
  openNamed(list)
}

function openNamed(list) {
  const name = location.hash.slice(1)
  const named = name && list.querySelector(`[id="${CSS.escape(name)}"]`)
  if (!named) return
  for (let fold = named.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
  const finding = named.closest('[data-part="finding"], li') ?? named
  finding.scrollIntoView({ block: "start" })
  finding.focus({ preventScroll: true })
}
