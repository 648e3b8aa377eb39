// Panels and menus of the runs table; most modules load when they are first opened.
import { Panel, lazy } from "../core/lazy_modules.js"
import { SearchBox } from "../query/search_box.js"

// Buttons of bulk actions.
const BULK = "[data-part=trash], [data-part=move], [data-part=tag-add], [data-part=tag-remove]"

export function makePanels(grid) {
  const address = grid.element.dataset.columnsUrl
  const columns = new Panel(grid.part("columns"), async () => {
    const { ColumnPicker } = await import("./column_picker.js")
    return new ColumnPicker(grid.part("columns"), {
      address,
      columns: () => grid.shown,
      onColumn: (what, key, value) => grid.changeColumn(what, key, value),
      onReset: () => grid.resetColumns(),
    })
  })
  const grouping = new Panel(grid.part("groups"), async () => {
    const { GroupPicker } = await import("./group_picker.js")
    return new GroupPicker(grid.part("groups"), {
      address,
      keys: () => grid.state.all("group"),
      onChange: (keys) => grid.group(keys),
    })
  })
  const search = new SearchBox(grid.element, {
    form: grid.form,
    address,
    onChange: () => grid.filter(),
    onEdit: (filter) => grid.edit(filter),
  })
  new Panel(grid.part("query-form"), async () => {
    const { QueryForm } = await import("../query/query_form.js")
    return new QueryForm(grid.part("query-form"), {
      address,
      known: grid.read("known-values"),
      valuesOf: (path) => valuesOf(grid.element.dataset.pageUrl, path),
      take: () => grid.takeEdited(),
      onSave: (filter, row) => search.replace(filter, row),
    })
  })
  const menu = lazy(async () => {
    const { ColumnMenu } = await import("./column_menu.js")
    return new ColumnMenu(grid.part("column-menu"), { onChoose: (what, key) => grid.choose(what, key) })
  })
  const colours = lazy(async () => {
    const { ColourMenu } = await import("./colour_menu.js")
    return new ColourMenu(grid.part("colours"), {
      nameOf: (slot) => grid.nameWith(slot),
      onChoose: (_, slot) => grid.setColour(slot),
    })
  })
  return { columns, grouping, search, menu, colours, bulk: bulkOf(grid) }
}

function bulkOf(grid) {
  let isThere = false
  const bulk = lazy(async () => {
    const { BulkActions } = await import("./bulk_actions.js")
    const { tagUrl, trashUrl, restoreUrl } = grid.element.dataset
    const actions = new BulkActions(grid.element, {
      addresses: { tag: tagUrl, trash: trashUrl, restore: restoreUrl },
      ids: () => grid.selection.ids,
      matching: () => (grid.selection.isMatching ? { question: grid.selection.question, count: grid.blocks.runCount } : null),
      onDone: (how) => grid.done(how),
    })
    isThere = true
    return actions
  })
  // Replays clicks that arrive before the module has loaded.
  grid.part("picked")?.addEventListener("click", async ({ target }) => {
    const button = target.closest(BULK)
    if (button && !isThere && (await bulk())) button.click()
  }, true)
  return bulk
}

// Returns the values of an attribute in the first rows of the table.
async function valuesOf(page, path) {
  const query = new URLSearchParams({ column: `path:${path}` })
  const response = await fetch(`${page}?${query}`, { headers: { Accept: "application/json" } })
  if (!response.ok) return []
  const { rows } = await response.json()
  const values = rows.map(({ values: [value] }) => value)
  return [...new Set(values.filter((value) => ["string", "number", "boolean"].includes(typeof value)))].map(String)
}
