// A page with charts that the user can arrange. The arrangement is in the URL, so that links show
// the same, and stored by the server per user and project.
//
// The element with data-part="sections" holds the charts:
// data-layout       the arrangement, as JSON
// data-layout-url   endpoint that stores it; "" for anonymous users
// data-series-url   figure endpoint of any series on the page

import { setUrlParameters, withChanges } from "../core/page_address.js"
import { Arrangement } from "./arrangement.js"
import { RequestError, post } from "../core/post.js"
import { toast } from "../core/toasts.js"
import { updateLinks } from "../page/zoom_links.js"
import { gettext } from "../core/texts.js"
import { undoable } from "./chart_undo.js"

const SAVE_MS = 600
// Longer layouts are stored by the server only: chart requests of 100 runs carry long ids, and
// proxies limit URLs to about 8,000 characters.
const MAX_LAYOUT_LENGTH = 4_000
const MAX_URL_LENGTH = 7_000

export class ArrangedPage {
  saved = Promise.resolve()
  // Returns whether a path matches the search.
  isFound = () => true

  // `goBack` gets the URL parameters and the arrangement to restore; the latter is null if it is
  // unchanged.
  constructor(list, { goBack, ...undo }) {
    this.list = list
    this.goBack = goBack
    this.arrangement = new Arrangement(JSON.parse(this.data.layout || "{}"))
    this.changed = undoable(this, undo)
  }

  part(name) {
    return this.list.querySelector(`[data-part="${name}"]`)
  }

  charts() {
    return this.list.querySelectorAll('[data-behaviour="chart"][data-chart]')
  }

  get data() {
    return this.part("sections").dataset
  }

  get options() {
    return new URL(location.href).searchParams
  }

  // Sets URL parameters; null removes one.
  set(changes) {
    setUrlParameters(changes)
  }

  // Replaces the arrangement.
  arrange(body) {
    this.arrangement = new Arrangement(body)
  }

  // Writes the arrangement to the URL and stores it on the server.
  arranged() {
    const text = JSON.stringify(this.arrangement.body)
    const layout = text !== "{}" && fits(text) ? text : null
    this.set({ layout })
    updateLinks({ layout })
    this.changed()
    clearTimeout(this.saving)
    // For anonymous users the URL is the only storage.
    if (this.data.layoutUrl) this.unsaved = { layout: text }
    this.saving = setTimeout(() => this.save(), SAVE_MS)
    if (layout) this.#notify(layout)
    // Otherwise the next chart request relies on the stored arrangement.
    else this.save().then(() => this.#notify(layout))
  }

  // Resolves when everything is stored.
  save() {
    if (this.unsaved) this.saved = this.#send()
    return this.saved
  }

  async #send() {
    const fields = this.unsaved
    this.unsaved = null
    const refused = await this.post(this.data.layoutUrl, fields)
    if (refused) toast(gettext("The layout may not be saved. %(why)s", { why: refused }), { isError: true })
  }

  // Resolves to the error message, or null.
  async post(address, fields) {
    try {
      await post(address, fields)
      return null
    } catch (error) {
      if (error instanceof RequestError) return error.message
      throw error
    }
  }

  // Reloads the page with the stored arrangement.
  async reload() {
    await this.save()
    location.reload()
  }

  #notify(layout) {
    this.list.dispatchEvent(new CustomEvent("charts-arranged", { detail: layout }))
  }
}

function fits(layout) {
  const address = withChanges(location.href, { layout })
  return encodeURIComponent(layout).length <= MAX_LAYOUT_LENGTH && address.length <= MAX_URL_LENGTH
}
