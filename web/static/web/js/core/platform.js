// Whether keys have the names that a Mac gives them.
export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform)
