// What scripts say, in the language of the page. A page in another language than they are
// written in loads a catalogue first; without one, texts stay as they are written here.

const catalogue = () => globalThis.django ?? {}

// `values` are what a text names, as in "%(count)s of %(all)s".
export const gettext = (text, values) => filled(catalogue().gettext?.(text) ?? text, values)

export const ngettext = (one, many, count, values = { count }) =>
  filled(catalogue().ngettext?.(one, many, count) ?? (count === 1 ? one : many), values)

export const interpolate = (text, values) =>
  text.replace(/%\((\w+)\)s|%%/g, (_, name) => (name ? String(values[name]) : "%"))

function filled(text, values) {
  return values ? interpolate(text, values) : text
}
