// Translated texts. Pages in other languages load a catalog first; without one, texts stay in
// English.

const catalogue = () => globalThis.django ?? {}

// `values` fill placeholders, as in "%(count)s of %(all)s".
export const gettext = (text, values) => filled(catalogue().gettext?.(text) ?? text, values)

export const ngettext = (one, many, count, values = { count }) =>
  filled(catalogue().ngettext?.(one, many, count) ?? (count === 1 ? one : many), values)

export const interpolate = (text, values) =>
  text.replace(/%\((\w+)\)s|%%/g, (_, name) => (name ? String(values[name]) : "%"))

function filled(text, values) {
  return values ? interpolate(text, values) : text
}
