// Connects elements to the behaviors named in data-behavior.

// A morph resets the text and attributes of existing elements, so these behaviors run again.
const RERUN_AFTER_MORPH = new Set(["cut-name", "elapsed-time", "legend-more", "local-time", "restart-polling"])
const connected = new WeakMap()
let registry = {}

// Registers behaviors: names to functions that import a module.
export function register(behaviours) {
  registry = behaviours
}

// Connects `root` and its descendants; resolves when their modules have started.
export function connect(root) {
  if (!(root instanceof Element || root instanceof Document)) return Promise.resolve([])
  const elements = [root, ...root.querySelectorAll("[data-behaviour]")]
  return Promise.all(elements.flatMap((element) =>
    (element.dataset?.behaviour?.split(" ") ?? []).map((name) => connectTo(element, name))))
}

function connectTo(element, name) {
  if (!Object.hasOwn(registry, name)) return
  if (!connected.has(element)) connected.set(element, new Map())
  const behaviours = connected.get(element)
  if (!behaviours.has(name) || RERUN_AFTER_MORPH.has(name)) behaviours.set(name, start(element, name))
  return behaviours.get(name)
}

async function start(element, name) {
  try {
    const behaviour = await registry[name]()
    behaviour.default(element)
  } catch (error) {
    // One failed module must not break the rest of the page.
    reportError(error)
  }
}
