// Charts of dashboards: their tools, and the full-screen chart from the URL.

import { setUrlParameters } from "../core/page_address.js"
import { tools } from "./chart_tools.js"

class Page {
  constructor(list) {
    this.list = list
  }

  part(name) {
    return this.list.querySelector(`[data-part="${name}"]`)
  }

  charts() {
    return this.list.querySelectorAll('[data-behaviour="chart"]')
  }

  get options() {
    return new URL(location.href).searchParams
  }

  set(changes) {
    setUrlParameters(changes)
  }
}

export default function chartPage(list) {
  const page = new Page(list)
  // Widgets load their charts when they near the viewport.
  const requested = page.options.get("full")
  const widget = requested && list.querySelector(`[data-part="widget"][id*="${CSS.escape(requested)}"]`)
  widget?.scrollIntoView()
  tools(page)
}
