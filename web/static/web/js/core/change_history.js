// Undo history: a list of states, as text, and the current index. Pure; no access to the page.
const MAX_STATES = 50

export class ChangeHistory {
  // `stored` is an earlier `text`. It is used if its current state equals `now`, or, with `goesOn`,
  // as the history before `now`.
  constructor(now, stored = "", { goesOn = false } = {}) {
    const { states = [], at = -1 } = read(stored)
    const isKnown = states[at] === now || (goesOn && at in states)
    this.states = isKnown ? states : [now]
    this.at = isKnown ? at : 0
    this.add(now)
  }

  get text() {
    return JSON.stringify({ states: this.states, at: this.at })
  }

  // A new change discards the redo states.
  add(state) {
    if (state === this.states[this.at]) return
    this.states = [...this.states.slice(0, this.at + 1), state].slice(-MAX_STATES)
    this.at = this.states.length - 1
  }

  // Moves one step and returns the new state, or null at the end.
  go(step) {
    const state = this.states[this.at + step]
    if (state === undefined) return null
    this.at += step
    return state
  }
}

function read(stored) {
  try {
    const { states, at } = JSON.parse(stored)
    return Array.isArray(states) ? { states, at } : {}
  } catch {
    return {}
  }
}
