// Plotly reads every text as a small HTML: what stands in figures is written for it, and
// read back for people. As web/figures/text.py has it.

const WRITTEN = { "<": "&lt;", ">": "&gt;", "&": "&amp;" }
const READ = { "&lt;": "<", "&gt;": ">", "&amp;": "&" }

export function literal(text) {
  return String(text).replace(/[<>&]/g, (sign) => WRITTEN[sign])
}

export function plain(text) {
  return String(text).replace(/&(?:lt|gt|amp);/g, (entity) => READ[entity])
}
