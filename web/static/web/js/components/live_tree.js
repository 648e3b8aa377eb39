// A tree of a run that goes on asks for all that somebody has opened of it, at once: each
// of its polls names the branches whose content is here. The answer would take away what
// it does not know of, so no poll goes out while a branch is being loaded, where a list
// was made longer, and where more is open than an address can name.
//
// A branch's content has data-prefix; until it was loaded, it has hx-get, too.
import { isAnswered, isPoll } from "../core/request_errors.js"

const LOADED = ".tree__level[data-prefix]:not([hx-get])"
// Servers and proxies commonly take addresses of 8 kB.
const MAX_LETTERS = 6_000

export default function liveTree(root) {
  const loading = new Set()
  let isLonger = false

  const ending = new AbortController()
  const isMine = (ctx) => ctx && !isPoll(ctx) && (ctx.target === root || root.contains(ctx.target))
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (!root.isConnected) return ending.abort()
    if (!isMine(ctx)) return
    loading.add(ctx)
    root.dispatchEvent(new Event("htmx:abort"))
  }, { signal: ending.signal })
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (!loading.delete(ctx) || !ctx.response || !isAnswered(ctx)) return
    if (ctx.target === root) isLonger = false
    else if (ctx.sourceElement.matches(".tree__more")) isLonger = true
    else if (ctx.sourceElement.matches(".tree__level")) settle(ctx.sourceElement)
  }, { signal: ending.signal })
  root.addEventListener("htmx:config:request", (event) => {
    const { ctx } = event.detail
    if (!isPoll(ctx) || event.target !== root) return
    // One that is empty says that the whole tree is asked for.
    const opened = ["", ...[...root.querySelectorAll(LOADED)].map(({ dataset }) => dataset.prefix)]
    const letters = String(new URLSearchParams(opened.map((prefix) => ["open", prefix]))).length
    if (loading.size || isLonger || letters > MAX_LETTERS) return event.preventDefault()
    for (const prefix of opened) ctx.request.body.append("open", prefix)
  })
}

// What was loaded is asked for by the tree from now on.
function settle(level) {
  level.removeAttribute("hx-get")
  level.removeAttribute("hx-trigger")
  level.removeAttribute("hx-swap")
}
