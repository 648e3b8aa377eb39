"""Diffs taken apart."""

from hypothesis import given
from hypothesis import strategies as st

from web.pages.run_files.diff import OPEN_AT_MOST, diff_files

DIFF = """\
diff --git a/train.py b/train.py
index 1111111..2222222 100644
--- a/train.py
+++ b/train.py
@@ -1,3 +1,3 @@ def main():
 same
--- old
+++ new
\\ No newline at end of file
diff --git a/picture.png b/picture.png
index 3333333..4444444 100644
Binary files a/picture.png and b/picture.png differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 5555555..0000000
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-it
… 12 more characters are not stored"""


def test_each_file_has_its_name_and_its_lines():
    train, picture, gone = diff_files(DIFF)

    assert (train.name, train.added, train.removed) == ("train.py", 1, 1)
    assert [line.kind for line in train.lines] == [
        *("hunk", "same", "removed", "added", "note")
    ]
    assert train.lines[2].text == "--- old"
    assert picture.name == "picture.png"
    assert [line.text for line in picture.lines] == [
        "Binary files a/picture.png and b/picture.png differ"
    ]
    assert (gone.name, gone.removed) == ("gone.txt", 1)
    assert gone.lines[-1].kind == "note"


def test_a_long_diff_waits_to_be_opened():
    long = "diff --git a/a b/a\n@@\n" + "+x\n" * OPEN_AT_MOST

    assert diff_files(DIFF)[0].is_open
    assert not diff_files(long)[0].is_open


def test_nothing_has_no_files():
    assert diff_files("") == []


@given(st.text("+-@ ab/\n\t", max_size=200))
def test_within_a_hunk_every_line_is_shown(text):
    (file,) = diff_files(f"diff --git a/a b/a\n@@\n{text}\n")

    assert "\n".join(line.text for line in file.lines) == f"@@\n{text}"


@given(st.text())
def test_no_text_is_too_odd(text):
    for start in ("", "diff --git ", "--- ", "+++ "):
        diff_files(start + text)
