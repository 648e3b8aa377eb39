// Polls a live tree together with its expanded branches: each poll lists the loaded branches. The
// response replaces the tree, so polls pause while a branch loads, after a list was extended, and
// when the branches do not fit into a URL.
//
// The content of a branch has data-prefix, and hx-get until it has loaded.
import { isSuccess, isPoll } from "../core/request_errors.js"

const LOADED = ".tree__level[data-prefix]:not([hx-get])"
// Servers and proxies commonly limit URLs to 8 kB.
const MAX_LETTERS = 6_000

export default function liveTree(root) {
  const loading = new Set()
  let isLonger = false

  const ending = new AbortController()
  const isInTree = (ctx) => ctx && !isPoll(ctx) && (ctx.target === root || root.contains(ctx.target))
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (!root.isConnected) return ending.abort()
    if (!isInTree(ctx)) return
    loading.add(ctx)
    root.dispatchEvent(new Event("htmx:abort"))
  }, { signal: ending.signal })
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (!loading.delete(ctx) || !ctx.response || !isSuccess(ctx)) return
    if (ctx.target === root) isLonger = false
    else if (ctx.sourceElement.matches(".tree__more")) isLonger = true
    else if (ctx.sourceElement.matches(".tree__level")) settle(ctx.sourceElement)
  }, { signal: ending.signal })
  root.addEventListener("htmx:config:request", (event) => {
    const { ctx } = event.detail
    if (!isPoll(ctx) || event.target !== root) return
    // An empty prefix requests the whole tree.
    const opened = ["", ...[...root.querySelectorAll(LOADED)].map(({ dataset }) => dataset.prefix)]
    const letters = String(new URLSearchParams(opened.map((prefix) => ["open", prefix]))).length
    if (loading.size || isLonger || letters > MAX_LETTERS) return event.preventDefault()
    for (const prefix of opened) ctx.request.body.append("open", prefix)
  })
}

// The tree's poll covers loaded branches.
function settle(level) {
  level.removeAttribute("hx-get")
  level.removeAttribute("hx-trigger")
  level.removeAttribute("hx-swap")
}
