// What can be undone: the states that something was in, and which of them it is in now.
// States are texts. Functions of values; nothing here looks at a page.
const MOST = 50

export class ChangeHistory {
  // `stored` is what `text` was; it counts if it ends where things stand now or, if it
  // `goesOn`, as what was before that.
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

  // What was undone before cannot be done again after another change.
  add(state) {
    if (state === this.states[this.at]) return
    this.states = [...this.states.slice(0, this.at + 1), state].slice(-MOST)
    this.at = this.states.length - 1
  }

  // Returns the state one step away, which is now the present one; null: there is none.
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
