// Whether keys have their Mac names.
export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform)
