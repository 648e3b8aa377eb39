// Charts panel of the runs page: visible runs, their number and their charts.
import { setText } from "../core/elements.js"
import { number } from "../core/format.js"
import { SHOWN_AT_FIRST, ShownRuns } from "./visible_runs.js"
import { lazy } from "../core/lazy_modules.js"
import { toast } from "../core/toasts.js"
import { gettext, ngettext } from "../core/texts.js"

export class ChartsSide {
  #question = ""
  #charted = 0
  // Line index by slot, for lines that show several runs.
  #groups = {}
  #groupsSaid = ""

  // `onChange` is called after changes of visible runs or options; `rowAt` returns the row at a
  // position.
  constructor(element, { search, state, selection, rowAt, rowCount, onChange, onMode }) {
    this.element = element
    this.state = state
    this.selection = selection
    this.onChange = onChange
    this.rowCount = rowCount
    const maxRuns = Number(element.dataset.runsAtMost)
    this.eyes = new ShownRuns(search, { most: maxRuns, wished: (id) => selection.place(id) })
    selection.wished = (id) => (this.isOn && this.eyes.isShown(id) ? this.eyes.slot(id) : this.eyes.chosen(id))
    this.charts = lazy(() => this.#makeCharts())
    if (this.isOn) this.charts()
    setText(this.part("show-first"), gettext("First %(count)s", { count: SHOWN_AT_FIRST }))
    this.part("modes").addEventListener("click", ({ target }) => {
      const button = target.closest("button")
      if (button) onMode(button.value)
    })
    element.addEventListener("click", ({ target }) => {
      const part = target.closest("button")?.dataset.part
      if (part === "show-first") this.#change(() => this.eyes.usual())
      if (part === "show-none") this.#change(() => this.eyes.none())
      if (part === "show-picked") this.#change(() => this.eyes.only(...selection.ids))
      if (part === "fold-list") element.classList.toggle("runs--unfolded")
    })
    this.#highlightOnHover(this.part("grid"), rowAt)
    this.applyQuery()
  }

  async #makeCharts() {
    const { ChartsBesideRuns } = await import("./beside_runs.js")
    const { state, onChange } = this
    return new ChartsBesideRuns(this.part("charts"), {
      zoom: () => state.zoom,
      onZoom: (zoom) => {
        state.zoomTo(zoom)
        onChange()
      },
      onOption: (name, value) => {
        state.set(name, value)
        // A zoom range is meaningless on another axis.
        if (name === "axis" || name === "over") state.zoomTo(null)
        this.applyQuery()
        onChange()
      },
      onBack: (parameters) => {
        state.restore(parameters)
        this.applyQuery()
        onChange()
      },
      optionValue: (name) => state.get(name),
      onShown: (count, groups) => {
        this.#charted = count
        this.#count()
        if (groups === this.#groupsSaid) return
        this.#groupsSaid = groups
        this.#groups = groups ? JSON.parse(groups) : {}
        onChange()
      },
      onLine: (slot) => this.#mark(slot),
    })
  }

  get isOn() {
    return this.state.isCharts
  }

  // Kept while the table is shown.
  get address() {
    return this.eyes.address
  }

  // The comparison of the visible runs; null without charts.
  get comparison() {
    if (!this.isOn || this.eyes.ids.length < 2) return null
    return new URLSearchParams([...this.eyes.comparison, ...this.state.chartOptions])
  }

  // Applies the current query once it is valid.
  applyQuery() {
    this.#question = String(this.state.chartQuestion)
  }

  eyeOf(id) {
    const isOpen = this.eyes.isShown(id)
    const slot = this.eyes.slot(id)
    return {
      slot,
      line: this.#groups[slot] ?? slot,
      isOpen,
      status: isOpen ? gettext("shown in the charts") : gettext("not shown in the charts"),
      title: isOpen ? gettext("Hide in charts (Alt: show only this run)") : gettext("Show in charts (Alt: show only this run)"),
    }
  }

  // Whether colors show groups instead of runs.
  get isGrouped() {
    return this.isOn && this.#groupsSaid !== ""
  }

  press(row, position, { isAlone = false } = {}) {
    this.#change(() => (isAlone ? this.eyes.alone(row.id, position) : this.eyes.toggle(row.id, position)))
  }

  extend(rows) {
    this.#change(() => this.eyes.extend(rows.map(({ id }) => id)))
  }

  draw(blocks, shownRows) {
    const { element, isOn } = this
    const hasChanged = element.classList.contains("runs--charts") !== isOn
    element.classList.toggle("runs--charts", isOn)
    for (const button of this.part("modes").children) {
      button.setAttribute("aria-pressed", String(button.value === (isOn ? "charts" : "")))
    }
    this.part("charts").hidden = this.part("list-head").hidden = !isOn
    if (!isOn) return hasChanged
    this.matching = blocks.matching
    this.part("grid").style.setProperty("--count", this.rowCount())
    const count = Math.min(SHOWN_AT_FIRST, blocks.matching)
    const first = Array.from({ length: count }, (_, place) => blocks.row(place))
    // Keeps the previous rows until all of the first ones are loaded.
    if (!blocks.mistake && first.every(Boolean)) this.eyes.follow([...shownRows, ...first])
    this.#count()
    this.part("show-first").setAttribute("aria-pressed", String(this.eyes.isUsual))
    this.part("show-none").setAttribute("aria-pressed", String(this.eyes.ids.length === 0))
    this.part("show-picked").hidden = this.selection.ids.length === 0
    this.part("fold-list").setAttribute("aria-expanded", String(element.classList.contains("runs--unfolded")))
    if (!blocks.mistake && blocks.matching) this.#show(`${this.eyes.comparison}&${this.#question}`)
    return hasChanged
  }

  async #show(comparison) {
    const charts = await this.charts()
    charts?.show(comparison)
  }

  async #highlight(slot) {
    const charts = await this.charts()
    charts?.highlight(slot)
  }

  #change(change) {
    if (change() === false) toast(gettext("Charts show at most %(count)s runs. Hide another run first.", { count: this.eyes.most }))
    this.onChange()
  }

  // Whether the charts show the first runs of a list whose newest run is first.
  get #areNewest() {
    return this.eyes.isUsual && this.state.sorts[0] === "-started" && this.#charted === SHOWN_AT_FIRST && this.matching > SHOWN_AT_FIRST
  }

  #count() {
    const values = { count: number(this.#charted), all: number(this.matching) }
    setText(this.part("shown"), this.#areNewest ? gettext("%(count)s newest of %(all)s runs", values) : ngettext("%(count)s of %(all)s run shown", "%(count)s of %(all)s runs shown", this.matching, values))
  }

  // Highlights the lines of the run under the pointer.
  #highlightOnHover(grid, rowAt) {
    grid.addEventListener("pointerover", ({ target }) => {
      if (!this.isOn) return
      const row = rowAt(Number(target.closest("[data-position]")?.dataset.position ?? -1))
      this.#highlight(row?.id && this.eyes.isShown(row.id) ? this.eyes.slot(row.id) : null)
    })
    grid.addEventListener("pointerleave", () => this.isOn && this.#highlight(null))
  }

  // Highlights the row of the run whose line is under the pointer.
  #mark(slot) {
    for (const row of this.part("grid").querySelectorAll("[data-slot]")) {
      row.classList.toggle("is-pointed", row.dataset.slot === String(slot))
    }
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`)
  }
}
