// What is done to all runs that are picked: tags, and the trash; each can be undone.
import { number } from "./format.js"
import { Refused, post } from "./post.js"
import { toast } from "../toasts.js"
import { ngettext } from "../texts.js"

export class BulkActions {
  constructor(element, { addresses, ids, onDone }) {
    this.addresses = addresses
    this.ids = ids
    this.onDone = onDone
    const tags = element.querySelector("[data-part=tags]")
    if (!tags) return
    this.field = tags.querySelector("input")
    tags.addEventListener("toggle", () => tags.open && this.field.focus())
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      event.preventDefault()
      this.tag("add", tags)
    })
    for (const what of ["add", "remove"]) {
      tags.querySelector(`[data-part=tag-${what}]`).addEventListener("click", () => this.tag(what, tags))
    }
    element.querySelector("[data-part=trash]").addEventListener("click", () => this.trash())
  }

  async tag(what, panel) {
    const tag = this.field.value.trim()
    if (!tag) return this.field.focus()
    const done = await this.#send(this.addresses.tag, { runs: this.ids().join(","), [what]: tag })
    if (!done) return
    this.field.value = ""
    panel.open = false
    const back = what === "add" ? "remove" : "add"
    const values = { count: number(done.length), tag }
    const text = what === "add"
      ? ngettext("Tagged %(count)s run “%(tag)s”", "Tagged %(count)s runs “%(tag)s”", done.length, values)
      : ngettext("Took “%(tag)s” off %(count)s run", "Took “%(tag)s” off %(count)s runs", done.length, values)
    this.#say(done, text, {
      address: this.addresses.tag,
      fields: { [back]: tag },
    })
  }

  async trash() {
    const asked = this.ids()
    const done = await this.#send(this.addresses.trash, { runs: asked.join(",") })
    if (!done) return
    const kept = asked.length - done.length
    const values = { count: number(done.length), kept: number(kept) }
    const text = kept
      ? ngettext(
          "Moved %(count)s run to the trash; %(kept)s stayed, pinned or gone",
          "Moved %(count)s runs to the trash; %(kept)s stayed, pinned or gone",
          done.length, values,
        )
      : ngettext("Moved %(count)s run to the trash", "Moved %(count)s runs to the trash", done.length, values)
    this.#say(done, text, { address: this.addresses.restore, fields: {} }, done)
  }

  #say(done, text, { address, fields }, gone = []) {
    this.onDone(gone)
    const undo = async () => {
      if (await this.#send(address, { ...fields, runs: done.join(",") })) this.onDone([], gone)
    }
    toast(text, { onUndo: done.length ? undo : null })
  }

  async #send(address, fields) {
    try {
      return (await post(address, fields)).changed
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      toast(error.message, { isError: true })
      return null
    }
  }
}
