// Charts of dashboards: their tools, and the full-screen chart from the URL.

import { keepInAddress } from "../core/page_address.js"
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
    keepInAddress(changes)
  }
}

export default function chartPage(list) {
  const page = new Page(list)
  // Widgets load their charts when they near the viewport.
  const wanted = page.options.get("full")
  const widget = wanted && list.querySelector(`[data-part="widget"][id*="${CSS.escape(wanted)}"]`)
  widget?.scrollIntoView()
  tools(page)
}
