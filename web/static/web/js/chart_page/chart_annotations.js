// Annotations at chart points, by users and by the script: a list per chart and a dialog to add
// one. In a chart of several runs each belongs to one run.

import { toMinute } from "../core/clock.js"
import { createElement as text } from "../core/elements.js"
import { chartOf } from "../charts/draw_queue.js"
import { placeBeside } from "../core/placement.js"
import { gettext } from "../core/texts.js"
import { toast } from "../core/toasts.js"

// URL placeholder for the selected run.
const ANY_RUN = "00000000-0000-0000-0000-000000000000"

export function annotations(page) {
  const { user, mayEdit, mayOwn } = page.list.dataset
  const { annotationsUrl } = page.data
  const dialog = page.part("annotate")
  const form = dialog.querySelector("form")
  const refused = page.part("refused")
  const written = page.part("written")
  let send = null

  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const button = form.querySelector("[value=save]")
    if (button.disabled) return
    button.disabled = true
    const error = await send(Object.fromEntries(new FormData(form))).finally(() => (button.disabled = false))
    refused.textContent = error ?? ""
    refused.hidden = error === null
    if (error === null) dialog.close()
  })
  dialog.querySelector('[data-do="cancel"]').addEventListener("click", () => dialog.close())

  function open(chart, { paths, step, text, isNew, address, runs = [], run = "" }) {
    form.elements.path.replaceChildren(...paths.map((path) => new Option(path, path)))
    form.elements.run.replaceChildren(...runs.map(({ id, name }) => new Option(name, id, false, id === run)))
    form.elements.run.closest("label").hidden = form.elements.run.disabled = !runs.length
    form.elements.path.disabled = form.elements.step.disabled = !isNew
    form.elements.step.value = step
    form.elements.text.value = text
    refused.hidden = true
    send = async ({ run: chosen, ...fields }) => {
      const error = await page.post(address.replace(ANY_RUN, chosen), fields)
      if (error === null) refresh(chart)
      return error
    }
    dialog.showModal()
    form.elements.text.focus()
  }

  function refresh(chart) {
    if (runsOf(chart)) return page.part("sections").dispatchEvent(new CustomEvent("marks-changed"))
    const paths = JSON.parse(chart.dataset.chart)
    for (const other of page.charts()) {
      const isShared = JSON.parse(other.dataset.chart).some((path) => paths.includes(path))
      if (isShared) other.dispatchEvent(new CustomEvent("chart-refresh"))
    }
  }

  function item(chart, mark) {
    const row = document.createElement("article")
    row.className = "written"
    const when = toMinute(mark.edited ?? mark.written)
    const isNote = mark.id === null
    const author = isNote ? gettext("the script") : mark.author || gettext("a former member")
    row.append(
      text("p", "written__text", mark.text),
      text("p", "muted small", metadata(mark, author, when)),
    )
    if (isNote) return row
    if (mayOwn === "true" || (mayEdit === "true" && mark.author === user)) row.append(buttons(chart, mark))
    return row
  }

  function buttons(chart, mark) {
    const row = document.createElement("p")
    const edit = text("button", "button button--quiet", gettext("Edit"))
    const remove = text("button", "button button--quiet button--danger", gettext("Delete"))
    edit.type = remove.type = "button"
    edit.addEventListener("click", () => {
      written.hidePopover()
      open(chart, { ...mark, paths: [mark.path], isNew: false, address: `${annotationsUrl}/${mark.id}/edit` })
    })
    remove.addEventListener("click", async () => {
      const error = await page.post(`${annotationsUrl}/${mark.id}/delete`, {})
      if (error) return row.append(text("span", "field__error", error))
      written.hidePopover()
      refresh(chart)
      toast(gettext("Annotation deleted."), { onUndo: () => restore(chart, mark) })
    })
    row.append(edit, remove)
    return row
  }

  async function restore(chart, mark) {
    const error = await page.post(`${annotationsUrl}/${mark.id}/restore`, {})
    if (error) toast(error, { isError: true })
    else refresh(chart)
  }

  return {
    // No annotations while those of several runs are hidden or have no position.
    isPossible: (chart) => !runsOf(chart) || (Boolean(page.data.marksUrl) && runsOf(chart).length > 0),

    add(chart, { path, step, trace }) {
      const paths = JSON.parse(chart.dataset.chart)
      const first = [path, ...paths.filter((other) => other !== path)].filter(Boolean)
      const runs = runsOf(chart) ?? []
      const run = runs.find(({ traces }) => traces.includes(trace))?.id
      open(chart, { paths: first, step, text: "", isNew: true, address: annotationsUrl, runs, run })
    },

    list(chart, marks, button) {
      written.replaceChildren(...marks.map((mark) => item(chart, mark)))
      written.showPopover()
      placeBeside(written, button)
    },
  }
}

function metadata({ step, edited }, author, when) {
  return edited
    ? gettext("step %(step)s · %(who)s, edited %(when)s", { step, who: author, when })
    : gettext("step %(step)s · %(who)s, %(when)s", { step, who: author, when })
}

// Runs with lines of their own in a multi-run chart; null for a single-run chart.
function runsOf(chart) {
  const parameters = new URLSearchParams(chart.closest("[data-chart-query]").dataset.chartQuery)
  if (!parameters.has("runs")) return null
  const ids = parameters.get("runs").split(",")
  const places = parameters.get("colours")?.split(".") ?? Object.keys(ids)
  const { lines, slots } = chartOf(chart).figure
  const found = new Map()
  for (const { trace, run, name } of lines) {
    const [slot, ...others] = slots[trace] ?? []
    if (slot === undefined || others.length) continue
    const id = ids[places.indexOf(String(slot))]
    found.set(id, { id, name: run ?? name, traces: [...(found.get(id)?.traces ?? []), trace] })
  }
  return [...found.values()]
}
