// Scrolls to sections and reports the one that the reader is at: the topmost visible one, or the one
// last scrolled to.
const EVENTS = ["wheel", "touchmove", "keydown", "pointerdown"]
// A section ends with its last pixels under a sticky bar.
const MARGIN_PIXELS = 24
// Charts of an opened section are added after it has been scrolled to.
const SETTLING_MS = 2_000

export class SectionInView {
  #sections = []
  #visible = new Set()
  #preferred = null

  // `around` holds the sections and, while it is sticky, a bar above them.
  constructor(around, onChange) {
    this.around = around
    this.onChange = onChange
    // At the end of a page, a section cannot reach the top.
    for (const name of EVENTS) window.addEventListener(name, () => (this.#preferred = null), { passive: true, capture: true })
    this.settling = new ResizeObserver(() => this.#preferred?.scrollIntoView())
    const bar = around.parentElement.querySelector(":scope > form")
    if (bar) new ResizeObserver(() => this.#fit(bar)).observe(bar)
  }

  watch(sections) {
    this.#sections = sections
    this.observer?.disconnect()
    this.#visible.clear()
    const bars = this.#barHeight
    this.around.style.setProperty("--sticky-bars", `${bars}px`)
    const top = bars + MARGIN_PIXELS
    const root = scrollerOf(this.around)
    this.observer = new IntersectionObserver((entries) => this.#take(entries), { root, rootMargin: `${-top}px 0px 0px` })
    for (const section of sections) this.observer.observe(section)
  }

  // Reports this section while it is visible, until the reader scrolls.
  goTo(section) {
    this.#preferred = section
    section.scrollIntoView()
    if (this.#sections.includes(section)) this.onChange(section)
    this.settling.observe(section.parentElement)
    clearTimeout(this.settled)
    this.settled = setTimeout(() => this.settling.disconnect(), SETTLING_MS)
  }

  #take(entries) {
    for (const { target, isIntersecting } of entries) {
      isIntersecting ? this.#visible.add(target) : this.#visible.delete(target)
    }
    const isPreferred = this.#visible.has(this.#preferred)
    const current = isPreferred ? this.#preferred : this.#sections.find((section) => this.#visible.has(section))
    if (current) this.onChange(current)
  }

  get #barHeight() {
    const sticky = Number.parseFloat(this.around.style.getPropertyValue("--sticky-bar")) || 0
    return sticky + this.around.querySelector('[data-part="index-button"]').offsetHeight
  }

  #fit(bar) {
    const height = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0
    this.around.style.setProperty("--sticky-bar", `${height}px`)
    if (this.#sections.length) this.watch(this.#sections)
  }
}

// The scrolling element around another; null for the window.
function scrollerOf(element) {
  const parent = element.parentElement
  if (!parent || parent === document.body) return null
  return /auto|scroll/.test(getComputedStyle(parent).overflowY) ? parent : scrollerOf(parent)
}
