// Virtualized log view: only visible lines are in the DOM, and only nearby lines are fetched. Polls
// for new lines while data-live is "true".
//
// data-records-url, data-found-url   endpoints of lines and of match positions
// data-path, data-count, data-start  the series, its number of lines, time origin (ms)

import { copyWithFeedback } from "../core/clipboard.js"
import { setUrlParameters } from "../core/page_address.js"
import { plain } from "./ansi.js"
import { clockMilliseconds, full, zoneName } from "../core/clock.js"
import { createElement as element, setText } from "../core/elements.js"
import { lineText } from "./log_text.js"
import { LogPages } from "./log_pages.js"
import { LogSearch } from "./log_search.js"
import { LINE_PIXELS, firstLine, heightOf, scrollTopOf } from "./log_window.js"
import { relative } from "./log_times.js"
import { gettext, ngettext } from "../core/texts.js"

const POLL_MS = 2_000
// Idle runs are polled less often.
const SILENT_POLLS = 60
const SILENT_POLL_MS = 15_000
const SEARCH_MS = 250
const COPIED_LINES = 10_000
const MAX_NEW_LINES = 1_000

class Log {
  times = "relative"
  linked = -1
  isDue = false

  constructor(root) {
    this.root = root
    this.part = (name) => root.querySelector(`[data-part="${name}"]`)
    this.view = this.part("view")
    this.lines = this.part("lines")
    this.count = Number(root.dataset.count)
    this.start = Number(root.dataset.start)
    this.isFollowing = true
    this.pages = new LogPages(
      (first, limit) => this.fetchLines({ first, limit }),
      () => this.renderSoon(),
    )
    this.search = new LogSearch((text, first) => this.fetchFound(text, first))
    this.listen()
    this.openLink()
    this.resize()
    this.poll(0)
  }

  listen() {
    this.view.addEventListener("scroll", () => this.scrolled(), { passive: true })
    new ResizeObserver(() => this.resize()).observe(this.view)
    window.addEventListener("hashchange", () => this.root.isConnected && this.openLink())
    this.lines.addEventListener("click", (event) => this.link(event))

    const field = this.root.querySelector('input[name="text"]')
    // A link may name a search and a line; the line wins.
    if (field.value) this.find(field.value, { isQuiet: location.hash.startsWith("#L") })
    let waiting
    field.addEventListener("input", () => {
      clearTimeout(waiting)
      waiting = setTimeout(() => this.find(field.value), SEARCH_MS)
    })
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      event.preventDefault()
      clearTimeout(waiting)
      if (field.value !== this.search.text) this.find(field.value)
      else this.go(event.shiftKey ? -1 : 1)
    })
    this.part("form").addEventListener("submit", (event) => event.preventDefault())
    this.part("next").addEventListener("click", () => this.go(1))
    this.part("previous").addEventListener("click", () => this.go(-1))
    this.part("copy").addEventListener("click", () => this.copy())
    this.part("follow").addEventListener("click", () => this.follow(!this.isFollowing))
    for (const button of this.root.querySelectorAll("[data-times]")) {
      button.addEventListener("click", () => this.showTimes(button.dataset.times))
      if (button.dataset.times === "absolute") button.title = zoneName()
    }
  }

  // data-live reflects the end and the restart of the run.
  get isLive() {
    return this.root.dataset.live === "true"
  }

  // Rendering

  resize() {
    this.part("canvas").style.height = `${heightOf(this.count)}px`
    this.lines.style.height = `${Math.min(this.view.clientHeight, heightOf(this.count))}px`
    if (this.isFollowing) this.scrollTo(this.count)
    this.renderSoon()
  }

  scrolled() {
    const left = this.view.scrollHeight - this.view.clientHeight - this.view.scrollTop
    this.setFollowing(left < LINE_PIXELS)
    this.renderSoon()
  }

  renderSoon() {
    if (this.isDue) return
    this.isDue = true
    requestAnimationFrame(() => {
      this.isDue = false
      if (this.root.isConnected) this.render()
    })
  }

  render() {
    const pixels = this.view.clientHeight
    const exact = firstLine(this.count, pixels, this.view.scrollTop)
    const first = Math.floor(exact)
    const last = Math.min(this.count, first + Math.ceil(pixels / LINE_PIXELS) + 1)
    const rows = []
    for (let position = first; position < last; position += 1) rows.push(this.row(position))
    rows[0]?.style.setProperty("margin-top", `${-(exact - first) * LINE_PIXELS}px`)
    this.lines.replaceChildren(...rows)
    this.part("count").textContent = ngettext("%(count)s line", "%(count)s lines", this.count, { count: this.count.toLocaleString("en") })
  }

  row(position) {
    const line = this.pages.line(position)
    const row = element("div", "log__line")
    // Not a link, because a line is smaller than the minimum target size; the URL can also be typed.
    const number = element("span", "log__number", String(position + 1))
    number.title = gettext("Link to line %(number)s", { number: position + 1 })
    row.append(number)
    if (line === null) row.classList.add("log__line--waiting")
    if (line && this.times !== "none") row.append(this.time(line))
    if (position === this.linked) row.classList.add("log__line--linked")
    if (this.search.has(position)) row.classList.add("log__line--found")
    if (position === this.search.current) row.classList.add("log__line--current")
    row.append(line ? lineText(line.text, this.search.text) : element("span", "log__text log__more", line === null ? "" : gettext("(unreadable)")))
    return row
  }

  time(line) {
    const shown = this.times === "absolute" ? clockMilliseconds(line.time) : relative(line.time - this.start)
    const time = element("time", "log__time", shown)
    time.dateTime = new Date(line.time).toISOString()
    time.title = full(line.time)
    return time
  }

  showTimes(times) {
    this.times = times
    for (const button of this.root.querySelectorAll("[data-times]")) {
      button.setAttribute("aria-pressed", button.dataset.times === times)
    }
    this.renderSoon()
  }

  // Position

  scrollTo(line) {
    this.view.scrollTop = scrollTopOf(this.count, this.view.clientHeight, line)
  }

  show(position) {
    this.setFollowing(false)
    this.scrollTo(position - Math.floor(this.view.clientHeight / LINE_PIXELS / 2))
    this.renderSoon()
  }

  follow(isOn) {
    this.setFollowing(isOn)
    if (isOn) this.scrollTo(this.count)
  }

  setFollowing(isOn) {
    this.isFollowing = isOn
    this.part("follow").setAttribute("aria-pressed", isOn)
  }

  openLink() {
    const match = /^#L(\d{1,15})$/.exec(location.hash)
    if (!match) return
    this.linked = Math.min(Number(match[1]), this.count) - 1
    this.resize()
    this.show(this.linked)
  }

  link(event) {
    const number = event.target.closest(".log__number")
    if (!number) return
    this.linked = Number(number.textContent) - 1
    history.replaceState(history.state, "", `#L${number.textContent}`)
    this.renderSoon()
  }

  // Search

  async find(text, { isQuiet = false } = {}) {
    setUrlParameters({ text })
    const isNew = await this.search.find(text, (isWhole) => this.showMatches(isWhole))
    if (!isNew) return
    this.showMatches(true)
    if (this.search.count && !isQuiet) this.go(0)
    else this.renderSoon()
  }

  go(step) {
    const first = Math.floor(firstLine(this.count, this.view.clientHeight, this.view.scrollTop))
    const position = this.search.go(step, this.isFollowing ? this.count : first)
    if (position === null) return
    this.showMatches(true)
    this.show(position)
  }

  showMatches(isWhole) {
    const { text, count, place, isCut, hasFailed } = this.search
    const all = `${count.toLocaleString("en")}${isCut || hasFailed || !isWhole ? "+" : ""}`
    const none = hasFailed ? gettext("Search failed") : isWhole ? gettext("No matches") : gettext("Searching…")
    const at = place >= 0
      ? gettext("%(place)s of %(all)s", { place: (place + 1).toLocaleString("en"), all })
      : ngettext("%(count)s match", "%(count)s matches", count, { count: all })
    this.part("matches").textContent = !text ? "" : count ? at : none
    for (const name of ["next", "previous"]) this.part(name).hidden = !count
  }

  // Requests

  async fetchLines({ first, limit }, headers = {}) {
    const answer = await this.fetchJson(this.root.dataset.recordsUrl, { first, limit }, headers)
    return answer && { ...linesOf(answer.body), etag: answer.etag }
  }

  async fetchFound(text, first) {
    const answer = await this.fetchJson(this.root.dataset.foundUrl, { text, first })
    return answer?.body ?? null
  }

  async fetchJson(address, parameters, headers = {}) {
    const url = new URL(address, document.baseURI)
    url.search = new URLSearchParams({ path: this.root.dataset.path, ...parameters })
    try {
      const response = await fetch(url, { headers })
      if (response.status === 304) return null
      if (!response.ok) throw new Error(gettext("the server returned status %(status)s", { status: response.status }))
      setText(this.part("status"), "")
      return { body: await response.json(), etag: response.headers.get("ETag") }
    } catch (error) {
      setText(this.part("status"), gettext("Lines could not be loaded: %(why)s", { why: error.message }))
      return null
    }
  }

  async poll(silent) {
    const wait = silent > SILENT_POLLS ? SILENT_POLL_MS : POLL_MS
    await new Promise((resume) => setTimeout(resume, wait))
    if (!this.root.isConnected) return
    this.part("follow").hidden = !this.isLive
    this.poll(this.isLive && (await this.fetchNew()) ? 0 : silent + 1)
  }

  async fetchNew() {
    if (document.hidden) return false
    const first = this.count
    const known = this.known?.first === first ? { "If-None-Match": this.known.etag } : {}
    const answer = await this.fetchLines({ first, limit: MAX_NEW_LINES }, known)
    if (answer?.etag) this.known = { first, etag: answer.etag }
    if (!answer || answer.count <= this.count) return false
    this.count = answer.count
    this.pages.put(answer.lines, answer.end)
    this.resize()
    if (await this.search.goOn()) this.showMatches(true)
    return true
  }

  async copy() {
    const lines = await this.newest(COPIED_LINES)
    if (lines) await copyWithFeedback(this.part("copy"), lines.map((text) => `${plain(text)}\n`).join(""))
  }

  // Responses are limited in size and start with the oldest requested line. Null on failure.
  async newest(limit) {
    const lines = []
    for (let parameters = { last: limit }; ; ) {
      const answer = await this.fetchJson(this.root.dataset.recordsUrl, parameters)
      if (!answer) return null
      const { values, end, count } = answer.body
      lines.push(...values)
      if (end >= count || end <= (parameters.first ?? -1) || lines.length >= limit) return lines
      parameters = { first: end, limit: Math.min(MAX_NEW_LINES, count - end) }
    }
  }
}

function linesOf({ positions, steps, times, values, end, count }) {
  const lines = positions.map((position, index) => ({
    position,
    step: steps[index],
    time: times[index],
    text: values[index],
  }))
  return { lines, end, count }
}

export default function start(root) {
  new Log(root)
}
