// Toolbar of the runs table: counts, links and buttons.
import { setText } from "../core/elements.js"
import { number } from "../core/format.js"
import { showMistake } from "../query/query_error.js"
import { gettext, ngettext } from "../core/texts.js"

const MAX_RUNGS = 50

export class TableBar {
  constructor(element) {
    this.element = element
    this.addresses = element.dataset
    this.most = Number(element.dataset.runsAtMost)
    this.mostChanged = Number(element.dataset.changedAtMost)
    this.query = element.querySelector("[name=query]")
    this.names = element.querySelector("[name=q]")
  }

  // `groups` is null without grouping; `shown` is the comparison in the charts panel, or null.
  draw({ blocks, groups, state, isFiltered, selection, isOffered, shown }) {
    const rows = groups ?? blocks
    setText(this.part("count"), counted(blocks, groups, isFiltered))
    this.part("clear").hidden = !isFiltered
    this.part("none").hidden = rows.matching > 0 || blocks.isUnread
    this.part("unread").hidden = !blocks.isUnread
    this.part("body").hidden = rows.matching === 0
    this.element.classList.toggle("runs--grouped", Boolean(groups))
    this.part("show").value = state.shownOfGroups
    this.part("csv").href = `${this.addresses.csvUrl}?${groups ? state.groupedQuestion : state.question}`
    for (const button of this.part("heights").children) {
      button.setAttribute("aria-pressed", String(Number(button.value) === state.rowHeight))
    }
    const isOfNames = blocks.mistake?.field === "q"
    showMistake(this.query, this.part("mistake"), isOfNames ? null : blocks.mistake)
    showMistake(this.names, this.part("search-mistake"), isOfNames ? blocks.mistake : null)
    const nest = this.part("nest")
    nest.hidden = !blocks.isFamily || isFiltered || Boolean(groups) || state.isCharts
    nest.setAttribute("aria-pressed", String(!state.isFlat))
    this.element.classList.toggle("runs--nested", !groups && Boolean(blocks.isNested))
    this.#drawSelection(selection, blocks.runCount, shown)
    this.#drawOffer(selection, blocks.runCount, isOffered)
    this.#drawView(state)
  }

  // Offers to select all matching runs beyond those that the header checkbox selects.
  #drawOffer(selection, matching, isOffered) {
    const button = this.part("tick-matching")
    if (!button) return
    button.hidden = !isOffered || selection.isMatching || matching <= selection.ids.length
    if (button.hidden) return setText(button, "")
    button.disabled = matching > this.mostChanged
    const limit = { most: number(this.mostChanged) }
    const values = { count: number(matching) }
    setText(button, button.disabled
      ? gettext("Filter to at most %(most)s runs to select all", limit)
      : ngettext("Select the %(count)s matching run", "Select all %(count)s matching runs", matching, values))
  }

  #drawSelection(selection, matching, shown) {
    const { ids, isMatching } = selection
    const picked = { count: number(isMatching ? matching : ids.length) }
    const label = isMatching ? gettext("All %(count)s matching runs", picked) : gettext("%(count)s selected", picked)
    const isAny = isMatching || ids.length > 0
    setText(this.part("selected"), isAny ? label : "")
    this.part("picked").hidden = !isAny
    if (isMatching) return this.#drawMatching()
    // One run is enough: more runs can be added on the comparison page.
    const compared = ids.length ? ids.length <= this.most && selection.address : shown
    const limit = { most: this.most }
    link(this.part("compare"), gettext("Select up to %(most)s runs", limit), compared && `${this.addresses.compareUrl}?${plain(compared)}`)
    const isLadder = ids.length > 1 && ids.length <= MAX_RUNGS
    const hint = gettext("Select 2 to %(most)s runs", { most: MAX_RUNGS })
    link(this.part("ladder"), hint, isLadder && `${this.addresses.laddersUrl}?runs=${ids.join(",")}`)
  }

  // The matching ids are known to the server only.
  #drawMatching() {
    const limit = { most: this.most }
    link(this.part("compare"), gettext("To compare, select up to %(most)s runs one by one", limit), null)
    const rungs = { most: MAX_RUNGS }
    link(this.part("ladder"), gettext("To create a ladder, select up to %(most)s runs one by one", rungs), null)
  }

  #drawView(state) {
    const fill = () => {
      for (const input of this.element.querySelectorAll("[data-part=view-state]")) input.value = state.textWith(shownLayout())
    }
    fill()
    // The charts may arrive after the table.
    this.element.onsubmit = fill
    for (const name of ["view-differs", "view-update"]) {
      const part = this.part(name)
      if (part) part.hidden = !state.differs
    }
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }
}

function counted(blocks, groups, isFiltered) {
  const { total, matching, isUnread } = blocks
  const values = { count: number(total), matching: number(matching) }
  const found = isFiltered && !isUnread
    ? ngettext("%(matching)s of %(count)s run", "%(matching)s of %(count)s runs", total, values)
    : ngettext("%(count)s run", "%(count)s runs", total, values)
  const isOffline = (groups ?? blocks).isOffline
  const text = groups ? gettext("%(groups)s of %(runs)s", { groups: groupCount(groups), runs: found }) : found
  return isOffline ? gettext("%(runs)s, server not responding", { runs: text }) : text
}

function groupCount({ groups, isCut }) {
  const values = { count: number(groups.length) }
  if (isCut) return gettext("Largest %(count)s groups", values)
  return ngettext("%(count)s group", "%(count)s groups", groups.length, values)
}

// Unescaped commas keep the URL readable.
function plain(search) {
  return String(search).replaceAll("%2C", ",")
}

// A link without `href` is not focusable, so it is marked as disabled.
function link(element, hint, address) {
  if (!element) return
  if (address) element.href = address
  else element.removeAttribute("href")
  element.setAttribute("aria-disabled", String(!address))
  element.title = address ? "" : hint
}

// Longer arrangements belong to the user only.
const MAX_LAYOUT_LENGTH = 4_000

function shownLayout() {
  const layout = document.querySelector('[data-part="sections"]')?.dataset.layout ?? "{}"
  return layout === "{}" || encodeURIComponent(layout).length > MAX_LAYOUT_LENGTH ? "" : layout
}
