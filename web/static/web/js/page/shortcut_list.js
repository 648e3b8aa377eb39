// Global shortcuts: keys, description, action and availability. The shortcut dialog lists them.
// Some differ while a text field has focus.
import { openDialog } from "../core/dialogs.js"
import { hasFindings, moveFinding } from "../run/finding_keys.js"
import { moveRow, hasRows } from "./row_keys.js"
import { gettext } from "../core/texts.js"

const SEARCH = "main input[type=search], main [role=search] input:not([type=hidden])"
const PLACES = document.getElementById("palette")?.dataset ?? {}

const ALWAYS = [
  entry("Mod+k", gettext("Everywhere"), gettext("Go to a project, run, ladder or page"), () => openDialog("palette"), () => "placesUrl" in PLACES),
  entry("?", gettext("Everywhere"), gettext("Show keyboard shortcuts"), () => openDialog("shortcuts")),
  entry("/", gettext("Everywhere"), gettext("Search on this page"), search, () => Boolean(searchField())),
  entry("j", gettext("In tables"), gettext("Next row"), () => moveRow(1), () => !hasFindings() && hasRows()),
  entry("k", gettext("In tables"), gettext("Previous row"), () => moveRow(-1), () => !hasFindings() && hasRows()),
  entry("j", gettext("On a run"), gettext("Next finding"), () => moveFinding(1), hasFindings),
  entry("k", gettext("On a run"), gettext("Previous finding"), () => moveFinding(-1), hasFindings),
  entry("[", gettext("On a run"), gettext("Previous run"), () => beside("before").click(), () => Boolean(beside("before"))),
  entry("]", gettext("On a run"), gettext("Next run"), () => beside("after").click(), () => Boolean(beside("after"))),
  { ...entry("Mod+z", gettext("On charts"), gettext("Undo"), () => charts().dispatchEvent(new Event("undo")), () => Boolean(charts())), isTypedToo: true },
  { ...entry("Mod+Shift+z", gettext("On charts"), gettext("Redo"), () => charts().dispatchEvent(new Event("redo")), () => Boolean(charts())), isTypedToo: true },
  entry("g p", gettext("Go to"), gettext("Projects"), () => location.assign("/"), () => "placesUrl" in PLACES),
  entry("g r", gettext("Go to"), gettext("Runs of this project"), () => location.assign(PLACES.projectUrl), () => "projectUrl" in PLACES),
]

export function shortcuts() {
  return [...ALWAYS.filter((shortcut) => shortcut.isThere()), ...tabs()]
}

function charts() {
  return [...document.querySelectorAll("[data-undoable]")].find((each) => each.checkVisibility())
}

function beside(place) {
  return document.querySelector(`#run-actions [data-part="${place}"]`)
}

// Tabs define their own keys.
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
