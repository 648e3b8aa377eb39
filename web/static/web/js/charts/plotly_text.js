// Plotly parses all text as limited HTML, so figures hold escaped text. Escapes and unescapes it
// like web/figures/text.py.

const WRITTEN = { "<": "&lt;", ">": "&gt;", "&": "&amp;" }
const READ = { "&lt;": "<", "&gt;": ">", "&amp;": "&" }

export function literal(text) {
  return String(text).replace(/[<>&]/g, (sign) => WRITTEN[sign])
}

export function plain(text) {
  return String(text).replace(/&(?:lt|gt|amp);/g, (entity) => READ[entity])
}
