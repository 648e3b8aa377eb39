// The keyboard shortcuts that need no focus: their keys, what they do in words and in fact,
// and whether the page at hand has a use for them. The list of shortcuts is drawn from this.
// Some mean something else where somebody types.
import { openDialog } from "./dialogs.js"
import { hasFindings, moveFinding } from "./findings.js"
import { moveRow, hasRows } from "./rows.js"

const SEARCH = "main input[type=search], main [role=search] input:not([type=hidden])"
const PLACES = document.getElementById("palette")?.dataset ?? {}

const ALWAYS = [
  entry("Mod+k", "Everywhere", "Go to a project, a run, a ladder or a page", () => openDialog("palette"), () => "placesUrl" in PLACES),
  entry("?", "Everywhere", "These shortcuts", () => openDialog("shortcuts")),
  entry("/", "Everywhere", "Search on this page", search, () => Boolean(searchField())),
  entry("j", "In tables", "Next row", () => moveRow(1), () => !hasFindings() && hasRows()),
  entry("k", "In tables", "Previous row", () => moveRow(-1), () => !hasFindings() && hasRows()),
  entry("j", "On a run", "Next finding", () => moveFinding(1), hasFindings),
  entry("k", "On a run", "Previous finding", () => moveFinding(-1), hasFindings),
  entry("[", "On a run", "The run before", () => beside("before").click(), () => Boolean(beside("before"))),
  entry("]", "On a run", "The run after", () => beside("after").click(), () => Boolean(beside("after"))),
  { ...entry("Mod+z", "On charts", "Undo the last change", () => charts().dispatchEvent(new Event("undo")), () => Boolean(charts())), isTypedToo: true },
  { ...entry("Mod+Shift+z", "On charts", "Do it again", () => charts().dispatchEvent(new Event("redo")), () => Boolean(charts())), isTypedToo: true },
  entry("g p", "Go to", "Projects", () => location.assign("/"), () => "placesUrl" in PLACES),
  entry("g r", "Go to", "Runs of this project", () => location.assign(PLACES.projectUrl), () => "projectUrl" in PLACES),
]

export function shortcuts() {
  return [...ALWAYS.filter((shortcut) => shortcut.isThere()), ...tabs()]
}

function charts() {
  return document.querySelector("[data-behaviour~=chart-list]")
}

function beside(place) {
  return document.querySelector(`#run-actions [data-part="${place}"]`)
}

// The tabs say their own keys.
function tabs() {
  const links = document.querySelectorAll(".tabs [data-key]")
  return [...links].map((link) =>
    entry(link.dataset.key, link.closest("nav").ariaLabel, link.textContent.trim(), () => link.click()),
  )
}

function entry(keys, group, label, run, isThere = () => true) {
  return { keys, group, label, run, isThere }
}

function searchField() {
  return [...document.querySelectorAll(SEARCH)].find((field) => field.checkVisibility())
}

function search() {
  const field = searchField()
  field.focus()
  field.select()
}
