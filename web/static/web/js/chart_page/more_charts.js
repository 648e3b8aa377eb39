// Adds the charts of a section as the user scrolls to its end; data-rest holds their paths. The
// HTML contains only the first charts.

import { ngettext } from "../core/texts.js"
import { newChart, newDivision } from "./chart_elements.js"

const CHARTS_PER_LOAD = 24
const NEAR = "600px 0px"

export const restOf = (section) => JSON.parse(section.dataset.rest ?? "[]")

// Returns the remaining paths of a section that match the search.
export const foundRest = (page, section) => restOf(section).filter(page.isFound)

const moreOf = (section) => section.querySelector('[data-part="more"]')

// `onAdded` gets the new charts.
export function addsRest(page, onAdded) {
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) next(target.parentElement)
    },
    { rootMargin: NEAR },
  )
  page.list.addEventListener("click", ({ target }) => {
    const section = target.closest('[data-part="more"]')?.parentElement
    if (section) add(section, foundRest(page, section))
  })

  function next(section) {
    add(section, foundRest(page, section).slice(0, CHARTS_PER_LOAD))
  }

  function add(section, paths) {
    const added = new Set(paths)
    section.dataset.rest = JSON.stringify(restOf(section).filter((path) => !added.has(path)))
    // An unsaved arrangement may have moved some to other sections.
    const here = new Set([...page.charts()].map((chart) => chart.dataset.chart))
    const missing = paths.filter((path) => !here.has(JSON.stringify([path])))
    const charts = missing.map((path) => (page.data.parts ? newDivision(page, path) : newChart(page, JSON.stringify([path]))))
    if (page.data.parts) moreOf(section).before(...charts)
    else section.querySelector(".charts__grid").append(...charts)
    offer(section)
    onAdded(charts.flatMap((each) => (each.matches("figure") ? [each] : [...each.querySelectorAll("figure")])))
  }

  // Restarts the observer, which reports no change while the button stays in view.
  function offer(section) {
    const more = moreOf(section)
    const left = foundRest(page, section).length
    more.hidden = left === 0
    more.textContent = ngettext("Show %(count)s more", "Show %(count)s more", left)
    near.unobserve(more)
    if (left) near.observe(more)
  }

  return {
    look() {
      for (const section of page.list.querySelectorAll('[data-part="section"]')) offer(section)
    },

    // Adds the chart named in a URL.
    make(key) {
      for (const section of page.list.querySelectorAll("[data-rest]")) {
        const paths = restOf(section).filter((path) => isNamed(key, path))
        if (paths.length) add(section, paths)
      }
    },
  }
}

const isNamed = (key, path) => key === path || key === JSON.stringify([path]) || key.startsWith(`${path}, `)
