// The keys j and k lead from finding to finding, and an address that names a rule opens
// whatever its finding is folded into.

const TYPED_INTO = "input, textarea, select, [contenteditable], [role=grid]"
const STEPS = { j: 1, k: -1 }

export default function findings(list) {
  const listen = (event) => {
    if (!list.isConnected) return document.removeEventListener("keydown", listen)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (!(event.key in STEPS) || event.target.closest?.(TYPED_INTO)) return
    go(list, STEPS[event.key])
  }
  document.addEventListener("keydown", listen)
  window.addEventListener("hashchange", () => list.isConnected && openNamed(list))
  openNamed(list)
}

function go(list, step) {
  // What is folded away is not led to.
  const all = [...list.querySelectorAll('[data-part="finding"]')].filter((each) => each.checkVisibility())
  if (!all.length) return
  const here = all.findIndex((each) => each.contains(document.activeElement))
  const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step
  all[Math.min(Math.max(next, 0), all.length - 1)].focus()
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
