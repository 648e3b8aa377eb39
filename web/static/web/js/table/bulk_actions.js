// Bulk actions on the selected or matching runs: tag, move, trash. Each can be undone, and
// slow requests show their progress.
import { bulkChange, fetchChange } from "./bulk_change.js"
import { setText } from "../core/elements.js"
import { number } from "../core/format.js"
import { RequestError } from "../core/post.js"
import { toast } from "../core/toasts.js"
import { gettext, ngettext } from "../core/texts.js"

// The server accepts at most this many ids per request.
const MAX_IDS = 1_000
// Faster requests show no progress.
const PROGRESS_DELAY_MS = 300

export class BulkActions {
  #isBusy = false
  #focused = null
  #showing = null

  // `matching` returns the query and its number of runs, or null if single runs are selected.
  constructor(element, { addresses, ids, matching, onDone }) {
    this.bar = element.querySelector("[data-part=picked]")
    this.progress = element.querySelector("[data-part=progress]")
    this.addresses = addresses
    this.changedUrl = element.dataset.changedUrl
    this.ids = ids
    this.matching = matching
    this.onDone = onDone
    const tags = element.querySelector("[data-part=tags]")
    if (!tags) return
    this.dialog = element.querySelector("[data-part=confirm-matching]")
    this.field = tags.querySelector("input")
    tags.addEventListener("toggle", () => tags.open && this.field.focus())
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      event.preventDefault()
      this.tag("add", tags)
    })
    for (const action of ["add", "remove"]) {
      tags.querySelector(`[data-part=tag-${action}]`).addEventListener("click", () => this.tag(action, tags))
    }
    element.querySelector("[data-part=trash]").addEventListener("click", () => this.trash())
    element.querySelector("[data-part=move]").addEventListener("click", () => this.move())
  }

  async tag(action, panel) {
    const tag = this.field.value.trim()
    if (!tag) return this.field.focus()
    const isAdded = action === "add"
    const questionFor = (count) => {
      const values = { count: number(count), tag }
      return isAdded
        ? ngettext("Add tag “%(tag)s” to %(count)s run?", "Add tag “%(tag)s” to %(count)s runs?", count, values)
        : ngettext("Remove tag “%(tag)s” from %(count)s run?", "Remove tag “%(tag)s” from %(count)s runs?", count, values)
    }
    const found = await this.#change(this.addresses.tag, { [action]: tag }, questionFor)
    if (!found) return
    const { done } = found
    this.field.value = ""
    panel.open = false
    const values = { count: number(done.length), tag }
    const text = isAdded
      ? ngettext("Added tag “%(tag)s” to %(count)s run", "Added tag “%(tag)s” to %(count)s runs", done.length, values)
      : ngettext("Removed tag “%(tag)s” from %(count)s run", "Removed tag “%(tag)s” from %(count)s runs", done.length, values)
    const back = { address: this.addresses.tag, fields: { [isAdded ? "remove" : "add"]: tag } }
    this.#report(found, text, back, {})
  }

  async trash() {
    const questionFor = (count) =>
      ngettext("Move %(count)s run to the trash?", "Move %(count)s runs to the trash?", count, { count: number(count) })
    const found = await this.#change(this.addresses.trash, {}, questionFor)
    if (!found) return
    const { done, asked, isMatching, wasLost } = found
    // The result is unknown for requests that got no response.
    const skipped = wasLost ? 0 : asked - done.length
    const values = { count: number(done.length), kept: number(skipped) }
    const text = skipped
      ? ngettext(
          "Moved %(count)s run to the trash; skipped %(kept)s pinned or deleted",
          "Moved %(count)s runs to the trash; skipped %(kept)s pinned or deleted",
          done.length, values,
        )
      : ngettext("Moved %(count)s run to the trash", "Moved %(count)s runs to the trash", done.length, values)
    const back = { address: this.addresses.restore, fields: {} }
    this.#report(found, text, back, isMatching ? { isOver: true } : { gone: done })
  }

  // The server renders a page with the runs and the target projects.
  move() {
    if (this.#isBusy) return
    const form = this.bar.querySelector("[data-part=move-form]")
    const matching = this.matching()
    const [name, value] = matching ? ["question", matching.question] : ["runs", this.ids().join(",")]
    const input = Object.assign(document.createElement("input"), { type: "hidden", name, value })
    form.append(input)
    form.submit()
    input.remove()
  }

  // `changes` describes the change of the selection.
  #report({ done, refusal, lost, wasLost, asked }, text, { address, fields }, how) {
    this.onDone(how)
    const undo = async () => {
      this.#showProgress(0, asked)
      const back = await this.#revert(address, fields, done, lost).finally(() => this.#hideProgress())
      this.onDone({ back: back.refusal ? [] : how.gone })
      // Undo is idempotent, so a retry is safe.
      if (back.refusal) return toast(back.refusal, { isError: true, onUndo: undo })
      const { count } = back
      if (count <= MAX_IDS && !lost.length) return
      toast(ngettext("Undone for %(count)s run", "Undone for %(count)s runs", count, { count: number(count) }))
    }
    if (lost.length) {
      return toast(gettext("The connection was lost, and the server may still be changing runs. Check before you try again."), { isError: true, onUndo: undo })
    }
    toast(text, { onUndo: done.length ? undo : null })
    if (refusal) toast(gettext("The other runs were not changed: %(why)s", { why: refusal }), { isError: true })
    else if (wasLost && done.length < asked) toast(gettext("The connection was lost. The other runs were not changed."), { isError: true })
  }

  // Reverts the reported changes and those of requests that got no response.
  async #revert(address, fields, done, lost) {
    const ids = new Set(done)
    for (const name of lost) {
      const found = await fetchChange(this.changedUrl, name)
      if (!found) return { refusal: gettext("The server is not responding. Nothing has been undone.") }
      for (const id of found.changed) ids.add(id)
    }
    const back = await this.#sendInChunks(address, fields, [...ids], 0, ids.size)
    const refusal = back.lost.length ? gettext("The connection was lost. Some changes were not undone.") : back.refusal
    return { refusal, count: ids.size }
  }

  // Resolves to the changed ids, the number of requested runs and the error, or to null if
  // nothing changed.
  async #change(address, fields, questionFor) {
    if (this.#isBusy) return null
    this.#isBusy = true
    try {
      const matching = this.matching()
      if (matching) return await this.#changeMatching(address, fields, matching, questionFor)
      const ids = this.ids()
      this.#showProgress(0, ids.length)
      const found = await this.#sendInChunks(address, fields, ids, 0, ids.length)
      if (!found.refusal || found.done.length || found.lost.length) return { ...found, asked: ids.length, isMatching: false }
      toast(found.refusal, { isError: true })
      return null
    } finally {
      this.#isBusy = false
      this.#hideProgress()
    }
  }

  // `count` is 0 until the first response.
  #showProgress(count, all) {
    if (!this.progress) return
    const values = { count: number(count), all: number(all) }
    setText(this.progress, count
      ? gettext("%(count)s of %(all)s runs done…", values)
      : ngettext("Changing %(all)s run…", "Changing %(all)s runs…", all, values))
    this.#showing ??= setTimeout(() => (this.progress.hidden = false), PROGRESS_DELAY_MS)
    this.#focused ??= document.activeElement
    this.bar.setAttribute("aria-busy", "true")
    for (const control of this.#controls()) control.disabled = true
  }

  #hideProgress() {
    if (!this.progress) return
    clearTimeout(this.#showing)
    this.#showing = null
    this.progress.hidden = true
    setText(this.progress, "")
    this.bar.removeAttribute("aria-busy")
    for (const control of this.#controls()) control.disabled = false
    // A disabled button loses focus.
    if (document.activeElement === document.body) this.#focused?.focus()
    this.#focused = null
  }

  #controls() {
    return this.bar.querySelectorAll("button, input")
  }

  // Changes all matching runs after a confirmation. Asks again if the number of matches has
  // changed.
  async #changeMatching(address, fields, { question, count }, questionFor) {
    let asked = count
    let note = ""
    while (await this.#confirm(questionFor(asked), note)) {
      this.#showProgress(0, asked)
      try {
        const { changed, refusal, rest: remaining, lost, wasLost } = await this.#send(address, { ...fields, question, matching: asked })
        // The server ran out of time for these.
        const more = await this.#sendInChunks(address, fields, remaining, asked - remaining.length, asked)
        return {
          done: changed.concat(more.done),
          refusal: refusal || more.refusal,
          lost: more.lost.concat(lost ?? []),
          wasLost: wasLost || more.wasLost,
          asked,
          isMatching: true,
        }
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        const matching = error.answer?.matching
        if (matching === undefined) {
          toast(error.message, { isError: true })
          return null
        }
        const values = { now: number(matching), before: number(asked) }
        this.#hideProgress()
        note = gettext("The number of matching runs is now %(now)s instead of %(before)s. Nothing has been changed yet.", values)
        asked = matching
      }
    }
    return null
  }

  // Resolves to whether the user confirmed.
  #confirm(question, note) {
    const { dialog } = this
    const notice = dialog.querySelector("[data-part=asked-again]")
    dialog.querySelector("[data-part=asked]").textContent = question
    notice.textContent = note
    notice.hidden = !note
    dialog.returnValue = ""
    dialog.showModal()
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true })
    })
  }

  // Runs that changed before an error can still be undone. `before` of `all` runs are already
  // done.
  async #sendInChunks(address, fields, ids, before, all) {
    const done = []
    let wasLost = false
    for (let from = 0; from < ids.length; from += MAX_IDS) {
      if (before + from) this.#showProgress(before + from, all)
      const runs = ids.slice(from, from + MAX_IDS).join(",")
      try {
        const answer = await this.#send(address, { ...fields, runs })
        done.push(...answer.changed)
        wasLost ||= Boolean(answer.wasLost)
        // The next requests would fail as well.
        if (answer.lost) return { done, refusal: "", lost: [answer.lost], wasLost }
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        return { done, refusal: error.message, lost: [], wasLost }
      }
    }
    return { done, refusal: "", lost: [], wasLost }
  }

  #send(address, fields) {
    const { changedUrl } = this
    return bulkChange(address, fields, { changedUrl, onLost: () => this.#showConnectionLost() })
  }

  #showConnectionLost() {
    if (!this.progress) return
    setText(this.progress, gettext("The connection was lost. Checking which runs changed…"))
    this.progress.hidden = false
  }
}
