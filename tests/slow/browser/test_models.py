"""The modules of the pages that look at no page: values in, values out."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(modules):
    return modules.evaluate


def test_lines_that_cannot_be_had_are_asked_for_once_in_a_while(run):
    asked = run("""async () => {
      const { LogPages } = await import("/static/web/js/log/log_pages.js")
      let asked = 0
      const refused = async () => (asked += 1, null)
      // As the log does: whatever has changed, it draws.
      const pages = new LogPages(refused, () => pages.line(0), 60_000)
      pages.line(0)
      for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setTimeout(next))
      pages.line(0)
      return asked
    }""")

    assert asked == 1


def test_lines_come_once_the_server_answers_again(run):
    text = run("""async () => {
      const { LogPages } = await import("/static/web/js/log/log_pages.js")
      const lines = [{ position: 0, step: 0, time: 0, text: "first" }]
      const answers = [null, { lines: [], end: 0 }, { lines, end: 1 }]
      return new Promise((resolve) => {
        const changed = () => {
          const line = pages.line(0)
          if (line) resolve(line.text)
        }
        const pages = new LogPages(async () => answers.shift(), changed, 1)
        pages.line(0)
      })
    }""")

    assert text == "first"


def test_a_search_that_failed_is_not_taken_for_one_that_found_nothing(run):
    states = run("""async () => {
      const { LogSearch } = await import("/static/web/js/log/log_search.js")
      const answers = [{ positions: [3], end: 500, next: 500 }, null, { positions: [], end: 900, next: null }]
      const search = new LogSearch(async () => answers.shift())
      await search.find("loss", () => {})
      const failed = search.hasFailed
      await search.goOn()
      return [failed, search.hasFailed, search.count]
    }""")

    assert states == [True, False, 1]


BLOCK = "widget: chart\nfirst: 10\n"
FENCED = f"```seamark\n{BLOCK}```\n"
LONGER = f"```seamark\n{BLOCK}height: 8\n```\n"


@pytest.mark.parametrize(
    ("text", "before", "place"),
    [
        (FENCED, 0, 11),
        (LONGER + FENCED, 0, len(LONGER) + 11),
        (FENCED + FENCED, 0, 11),
        (FENCED + FENCED, 1, len(FENCED) + 11),
        (LONGER, 0, -1),
        (BLOCK, 0, -1),
        (f"~~~~ seamark\n{BLOCK}~~~~", 0, 13),
    ],
)
def test_a_widget_is_found_in_its_own_block_only(run, text, before, place):
    found = run(
        """async ([text, block, before]) => {
          const { placeOfBlock } = await import("/static/web/js/boards/report_blocks.js")
          return placeOfBlock(text, block, before)
        }""",
        [text, BLOCK, before],
    )

    assert found == place


def test_links_are_kept_to_the_axes_and_their_windows(run):
    whole, part, cleared = run("""async () => {
      const { withAxes } = await import("/static/web/js/parallel/parallel_address.js")
      const axes = [{ path: "b" }, { path: "a:c" }]
      const windows = [null, [0.1, 2]]
      const page = "http://x/compare?runs=1,2&dimension=a%3Ac&dimension=b&brush=0%3A1%3Ab"
      const without = "http://x/compare?dimension=b"
      return [
        withAxes(page, axes, windows),
        withAxes(without, axes, windows, { isPart: true }),
        withAxes(page, axes, [null, null]),
      ]
    }""")

    # Commas are escaped when an address is rewritten.
    start = "http://x/compare?runs=1%2C2"
    assert whole == f"{start}&dimension=b&dimension=a%3Ac&brush=0.1%3A2%3Aa%3Ac"
    assert part == "http://x/compare?dimension=b"
    assert cleared == f"{start}&dimension=b&dimension=a%3Ac"


@pytest.mark.parametrize(
    ("event", "is_found"),
    [
        ({"key": "["}, True),
        # AltGr as reported on Windows, and Option.
        ({"key": "[", "altKey": True, "ctrlKey": True}, True),
        ({"key": "[", "altKey": True}, True),
        ({"key": "j", "altKey": True}, False),
        ({"key": "ArrowLeft", "altKey": True}, False),
        ({"key": "[", "ctrlKey": True}, False),
    ],
)
def test_signs_that_need_another_key_are_heard(run, event, is_found):
    found = run(
        """async (event) => {
          const { KeySequence } = await import("/static/web/js/core/key_sequence.js")
          const shortcuts = [{ keys: "[" }, { keys: "j" }, { keys: "ArrowLeft" }]
          return new KeySequence().press(event, shortcuts, 0)?.keys ?? null
        }""",
        event,
    )

    assert (found is not None) is is_found


def test_a_chart_takes_no_more_series_than_the_server_draws(run):
    kept = run("""async () => {
      const { Arrangement, MAX_LINES } = await import("/static/web/js/chart_page/arrangement.js")
      const paths = Array.from({ length: MAX_LINES + 1 }, (_, place) => `train/${place}`)
      const arrangement = new Arrangement()
      const keys = [arrangement.join(paths), arrangement.join(paths.slice(1)), arrangement.join([...paths.slice(1), paths[1]])]
      return [keys[0], keys[1] === keys[2], arrangement.body.joined.length]
    }""")

    assert kept == [None, True, 1]


def test_answers_that_belong_to_no_place_are_told(run):
    messages = run("""async () => {
      const { errorMessageOf } = await import("/static/web/js/core/request_errors.js")
      const answer = (status, type) => ({ status, headers: new Headers({ "Content-Type": type }) })
      return [
        errorMessageOf(answer(403, "text/plain; charset=utf-8"), "Not allowed."),
        errorMessageOf(answer(409, "text/html; charset=utf-8"), "<p>in its place</p>"),
        errorMessageOf(answer(502, "text/html"), "<title>Bad gateway</title>"),
      ]
    }""")

    assert messages[:2] == ["Not allowed.", None]
    assert "Try again" in messages[2]


def test_a_failed_question_leaves_no_rows_of_the_one_before(run):
    names = run("""async () => {
      const { BLOCK, RunBlocks } = await import("/static/web/js/table/row_blocks.js")
      const rows = (name) => Array.from({ length: BLOCK }, () => ({ name }))
      const body = (offset, name) => ({ offset, rows: rows(name), total: 300, matching: 300, columns: [] })
      const answers = []
      window.fetch = async () => {
        const answer = answers.shift()
        if (!answer) throw new TypeError("away")
        return new Response(JSON.stringify(answer))
      }
      const blocks = new RunBlocks("/runs.json", "", body(0, "old"))
      answers.push(body(BLOCK, "old"))
      await blocks.load(BLOCK, BLOCK)
      await blocks.setQuery("sort=name")
      answers.push(body(0, "new"))
      await blocks.refresh(0, 0)
      answers.push(body(BLOCK, "new"))
      await blocks.load(BLOCK, BLOCK)
      return [blocks.row(0).name, blocks.row(BLOCK).name]
    }""")

    assert names == ["new", "new"]


def test_rows_that_are_held_are_taken_from_what_was_held_then(run):
    found = run("""async () => {
      const { RunBlocks } = await import("/static/web/js/table/row_blocks.js")
      const body = (rows, top = []) => ({ offset: 0, rows, top, total: 3, matching: 3, columns: [] })
      const named = []
      let answer
      window.fetch = async (_, { headers }) => {
        named.push(headers["If-None-Match"] ?? null)
        return await answer()
      }
      const json = (content, tag) => new Response(JSON.stringify(content), { headers: { ETag: tag } })
      const first = { ...body([{ name: "a" }, { name: "b" }, { name: "c" }], [{ name: "t" }]), tag: "one" }
      const blocks = new RunBlocks("/runs.json", "", first)
      const seen = () => [0, 1, 2].map((place) => blocks.row(place)?.name).join("") + blocks.top.map(({ name }) => name).join("")

      answer = () => new Response(null, { status: 304 })
      await blocks.refresh(0, 2)
      const same = seen()
      answer = () => json(body([2, { name: "new" }, 0], [3]), "two")
      await blocks.refresh(0, 2)
      const moved = seen()
      // Something else is asked for before the answer is there: it is left alone.
      let late
      answer = () => new Promise((resolve) => (late = () => resolve(json(body([0, 1, 2], [3]), "three"))))
      const waiting = blocks.refresh(0, 2)
      answer = () => json(body([{ name: "x" }, { name: "y" }, { name: "z" }]), "four")
      const asking = blocks.setQuery("sort=name")
      late()
      await Promise.all([waiting, asking])
      return [same, moved, seen(), named]
    }""")

    assert found == ["abct", "cnewat", "xyz", ["one", "one", "two", None]]


# A long table, with the offset of each requested block, and whether it was aborted.
# `answer` answers the requests in order.
PASSED = """
  const { BLOCK, RunBlocks } = await import("/static/web/js/table/row_blocks.js")
  const { RowPrefetch } = await import("/static/web/js/table/row_prefetch.js")
  const body = (offset) => ({ offset, rows: Array(BLOCK).fill({}), total: 100_000, matching: 100_000, columns: [], top: [] })
  const asked = []
  window.fetch = (address, { signal }) => new Promise((resolve, reject) => {
    const offset = Number(new URL(address, location).searchParams.get("offset"))
    asked.push({ offset, signal, answer: () => resolve(new Response(JSON.stringify(body(offset)))) })
    signal.addEventListener("abort", () => reject(signal.reason))
  })
  const places = () => asked.map(({ offset }) => offset)
  const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const until = async (isSo) => { while (!isSo()) await rest(5) }
  const blocks = new RunBlocks("/runs.json", "", body(0))
  let drawn = 0
  const prefetch = new RowPrefetch(() => blocks, () => (drawn += 1))
"""


def test_rows_are_fetched_while_they_are_passed_and_the_next_ones_before(run):
    at_once, then, drawn, back = run(f"""async () => {{{PASSED}
      prefetch.scrolledTo(480, 530)
      const atOnce = places()
      for (const {{ answer }} of asked) answer()
      await until(() => asked.length > 2)
      const then = places()
      asked.at(-1).answer()
      await rest(200)
      prefetch.scrolledTo(450, 500)
      await until(() => asked.length > 3)
      return [atOnce, then, drawn, places().at(-1)]
    }}""")

    assert at_once == [400, 500]
    # Downwards, as most people go; and then to where they turn.
    assert then == [400, 500, 600]
    assert back == 300
    # Parts outside of the view are not drawn.
    assert drawn == 1


def test_whoever_drags_past_rows_asks_for_few_of_them_and_waits_for_the_last(run):
    asked, left, last = run(f"""async () => {{{PASSED}
      prefetch.scrolledTo(1_000, 1_050)
      for (let row = 2_000; row <= 90_000; row += 1_000) {{
        prefetch.scrolledTo(row, row + 50)
        await rest(10)
      }}
      await until(() => places().includes(90_000))
      return [asked.length, asked[0].signal.aborted, asked.at(-1).signal.aborted]
    }}""")

    assert asked < 20
    assert left
    assert not last


def test_rows_that_somebody_else_waits_for_are_not_left(run):
    is_left = run(f"""async () => {{{PASSED}
      prefetch.scrolledTo(1_000, 1_050)
      blocks.load(1_000, 1_050)
      blocks.cancelOutside(90_000, 90_050)
      return asked[0].signal.aborted
    }}""")

    assert not is_left


def test_rows_that_are_grouped_are_walked_through(run):
    has_rows = run("""async () => {
      const { hasRows } = await import("/static/web/js/page/row_keys.js")
      const grid = document.createElement("div")
      grid.role = "treegrid"
      grid.append("runs")
      document.body.append(document.createElement("main"))
      document.querySelector("main").append(grid)
      return hasRows()
    }""")

    assert has_rows


EYES = """async ({ search, most, first, steps }) => {
  const { ShownRuns } = await import("/static/web/js/chart_page/visible_runs.js")
  const id = (name) => `${name.repeat(8)}-0000-4000-8000-000000000000`
  const named = (text) => text.replaceAll(/([0-9a-f])\\1{7}(-0{4}-4000-8000-0{12})/g, "$1")
  const filled = search.replaceAll("~", "-0000-4000-8000-000000000000")
  const eyes = new ShownRuns(new URLSearchParams(filled), { most, wished: (run) => (run === id("e") ? 5 : -1) })
  const follow = (names) => eyes.follow([...names].map((name) => ({ id: id(name) })))
  follow(first)
  let isDone = true
  for (const [what, ...given] of steps) {
    if (what === "follow") follow(given[0])
    else if (what === "range") isDone = eyes.extend([...given[0]].map(id))
    else isDone = eyes[what](...(given.length ? [id(given[0]), ...given.slice(1)] : []))
  }
  const shown = eyes.ids.map((run) => named(run) + eyes.slot(run)).join(" ")
  return [shown, named(decodeURIComponent(eyes.address)), isDone !== false]
}"""


def eyes(run, *steps, first="abc", search="", most=20):
    asked = {"search": search, "most": most, "first": first, "steps": list(steps)}
    return run(EYES, asked)


def test_the_first_runs_are_shown_and_the_address_says_nothing_of_it(run):
    assert eyes(run) == ["a0 b1 c2", "", True]
    assert eyes(run, first="0123456789abc")[0].endswith("9" + "9")


def test_a_run_that_comes_in_on_top_takes_the_colour_that_became_free(run):
    shown, _, _ = eyes(run, ["follow", "a012345678"], first="0123456789")

    assert shown == "a9 00 11 22 33 44 55 66 77 88"


def test_a_closed_eye_keeps_its_colour_and_is_in_the_address(run):
    assert eyes(run, ["toggle", "b", 1]) == ["a0 c2", "off=b", True]
    assert eyes(run, ["toggle", "b", 1], ["toggle", "b", 1])[:2] == ["a0 b1 c2", ""]
    assert eyes(run, search="off=bbbbbbbb~")[0] == "a0 c2"


def test_an_opened_eye_is_in_the_address_with_its_colour(run):
    assert eyes(run, ["toggle", "d", 9])[:2] == ["a0 b1 c2 d3", "on=d&shades=3"]
    # One that is ticked has its color there already.
    assert eyes(run, ["toggle", "e", 9])[:2] == ["a0 b1 c2 e5", "on=e&shades=5"]
    again = eyes(run, search="on=dddddddd~,eeeeeeee~&shades=7.1")
    assert again[0] == "a0 b2 c3 d7 e1"


def test_a_chosen_colour_is_swapped_and_comes_back_with_its_run(run):
    assert eyes(run, ["choose", "a", 2])[:2] == ["a2 b1 c0", "dyed=c.0,a.2"]
    assert eyes(run, ["choose", "c", 7])[:2] == ["a0 b1 c7", "dyed=c.7"]
    # A color for a run that is not loaded yet, and one color for two runs.
    later = eyes(run, ["follow", "abe"], search="dyed=eeeeeeee~.0")
    assert later[0] == "a2 b1 e0"
    both = eyes(run, search="dyed=bbbbbbbb~.0,aaaaaaaa~.0")
    assert both[0] == "a0 b1 c2"
    kept = eyes(run, ["choose", "a", 2], ["toggle", "a", 0], ["usual"])
    assert kept[0] == "a2 b1 c0"


@pytest.mark.parametrize("dyed", ["x.1", "aaaaaaaa~.-1", "aaaaaaaa~.20", "aaaaaaaa~"])
def test_a_colour_that_there_is_not_is_left_out(run, dyed):
    assert eyes(run, search=f"dyed={dyed}")[:2] == ["a0 b1 c2", ""]


def test_all_can_be_closed_but_one_and_come_back(run):
    assert eyes(run, ["none"])[:2] == ["", "eyes=none"]
    alone = eyes(run, ["only", "b"])
    assert alone[:2] == ["b1", "eyes=none&on=b&shades=1"]
    assert eyes(run, search="eyes=none&on=bbbbbbbb~&shades=1")[0] == "b1"
    assert eyes(run, ["only", "b"], ["usual"])[:2] == ["a0 b1 c2", ""]


def test_a_range_does_what_was_done_last(run):
    assert eyes(run, ["toggle", "a", 0], ["range", "abc"])[:2] == ["", "off=a,b,c"]
    opened = eyes(run, ["alone", "a", 0], ["range", "abc"])
    assert opened[0] == "a0 b1 c2"


def test_no_more_are_shown_than_can_be_told_apart(run):
    steps = ["toggle", "d", 4], ["toggle", "f", 5]

    assert eyes(run, *steps, most=4) == ["a0 b1 c2 d3", "on=d&shades=3", False]
    # A hidden run frees its colour.
    closed = ["toggle", "a", 0]
    assert eyes(run, steps[0], closed, steps[1], most=4)[0] == "b1 c2 d3 f0"


def test_what_an_address_cannot_mean_is_left_out(run):
    search = "on=__proto__,<b>,1&off=constructor&shades=NaN.-1.99&eyes=x"

    assert eyes(run, search=search) == ["a0 b1 c2", "", True]


def test_lines_that_ended_long_before_a_place_are_not_read_there(run):
    found = run("""async () => {
      const { nearestValues } = await import("/static/web/js/charts/nearest.js")
      const line = (name, x) => ({ name, x, y: x.map(() => 1) })
      const lines = [
        line("goes on", [0, 50, 200]), line("ended", [0, 50]), line("just ended", [0, 95]),
        line("begins later", [150, 200]), line("nothing", []),
      ]
      const read = (some, place) =>
        nearestValues(some, { place, pixel: 0, toPixel: () => 0, isSorted: true, isFar: (x) => Math.abs(x - place) > 10 })
          .map(({ line, index }) => [line.name, line.x[index]])
      return [read(lines, 100), read([lines[1]], 100)]
    }""")

    # Between its points a line is there, however far these are.
    assert found[0] == [["goes on", 50], ["just ended", 95]]
    # Without other lines, the end of the ended one.
    assert found[1] == [["ended", 50]]


def test_a_page_that_begins_anew_may_go_on_with_what_was_changed_before(run):
    found = run("""async () => {
      const { ChangeHistory } = await import("/static/web/js/core/change_history.js")
      const { text } = new ChangeHistory("one")
      const anew = new ChangeHistory("two", text)
      const further = new ChangeHistory("two", text, { goesOn: true })
      const same = new ChangeHistory("one", text, { goesOn: true })
      return [anew.go(-1), further.go(-1), same.go(-1)]
    }""")

    assert found == [None, "one", None]


def test_a_short_run_has_a_duration_and_a_running_one_counts_on(run):
    shown = run("""async () => {
      const { RUN_FIELDS } = await import("/static/web/js/table/run_columns.js")
      const rows = [
        { started: 0, ended: 2_150_000, active: [0.165, null] },
        { started: 0, ended: null, active: [60, 3_600_000] },
        { started: null, ended: null, active: [null, null] },
      ]
      const text = (key, row) => {
        const cell = document.createElement("td")
        RUN_FIELDS[key].fill(cell, null, row, 3_630_000)
        return cell.textContent
      }
      return rows.map((row) => [text("duration", row), text("wall_time", row)])
    }""")

    assert shown == [["165 ms", "35 min 50 s"], ["1 min 30 s", "1 h"], ["–", "–"]]
