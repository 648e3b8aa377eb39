// A page whose charts its reader arranges. What they do is in the page's address, so that a
// link shows the same, and kept by the server for this person and project.
//
// The element with data-part="sections" holds the charts:
// data-layout       how they are arranged, as JSON
// data-layout-url   where that is kept; "": nowhere, as of strangers
// data-series-url   where the figure of any series of the page is

import { keepInAddress, withChanges } from "../core/page_address.js"
import { Arrangement } from "./arrangement.js"
import { Refused, post } from "../core/post.js"
import { toast } from "../core/toasts.js"
import { lead } from "../page/zoom_links.js"
import { gettext } from "../core/texts.js"
import { undoable } from "./chart_undo.js"

const SAVE_MS = 600
// Beyond this the address is left without the arrangement, which is kept all the same: what
// asks for charts of a hundred runs names these, too, and proxies take 8,000 letters.
const LONGEST_LAYOUT = 4_000
const LONGEST_ADDRESS = 7_000

export class ArrangedPage {
  saved = Promise.resolve()
  // Tells which paths the page's search finds.
  isFound = () => true

  // `goBack` takes what the address said and the arrangement before a change, or after it;
  // the latter is null if it is as it was.
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

  // Changes what the address says; null takes a name out of it.
  set(changes) {
    keepInAddress(changes)
  }

  // Takes an arrangement that came from elsewhere.
  arrange(body) {
    this.arrangement = new Arrangement(body)
  }

  // Writes the arrangement into the address, and has the server keep it for this person.
  arranged() {
    const text = JSON.stringify(this.arrangement.body)
    const layout = text !== "{}" && fits(text) ? text : null
    this.set({ layout })
    lead({ layout })
    this.changed()
    clearTimeout(this.saving)
    // Strangers have nobody to keep it for: theirs is in the address alone.
    if (this.data.layoutUrl) this.unsaved = { layout: text }
    this.saving = setTimeout(() => this.save(), SAVE_MS)
    if (layout) this.#tell(layout)
    // Who asks for the charts anew meets it at the server alone.
    else this.save().then(() => this.#tell(layout))
  }

  // Resolves once the server has heard all.
  save() {
    if (this.unsaved) this.saved = this.#send()
    return this.saved
  }

  async #send() {
    const fields = this.unsaved
    this.unsaved = null
    const refused = await this.post(this.data.layoutUrl, fields)
    if (refused) toast(gettext("The arrangement may not be kept. %(why)s", { why: refused }), { isError: true })
  }

  // Resolves to what the server says against it, or null.
  async post(address, fields) {
    try {
      await post(address, fields)
      return null
    } catch (error) {
      if (error instanceof Refused) return error.message
      throw error
    }
  }

  // Has the server draw the page as it is arranged.
  async anew() {
    await this.save()
    location.reload()
  }

  #tell(layout) {
    this.list.dispatchEvent(new CustomEvent("charts-arranged", { detail: layout }))
  }
}

function fits(layout) {
  const address = withChanges(location.href, { layout })
  return encodeURIComponent(layout).length <= LONGEST_LAYOUT && address.length <= LONGEST_ADDRESS
}
