"""Builds docs/ into the static site that the server shows at /help/.

The image runs this without the server's packages: it needs the standard library and the
program zensical only. Pages work offline and under the content security policy of all
other pages, so inline scripts and styles become files.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
SITE = ROOT / "build/help"
CONFIG = "mkdocs.yml"
MARK = ROOT / "web/static/web/mark.svg"
# Pages of the repository's root that the site shows, too.
ROOT_PAGES = {
    ROOT / f"{name.upper()}.md": f"{name}.md"
    for name in ("architecture", "changelog", "contributing", "security")
}
# For search engines, other sites and hosts that serve the site at their root.
UNUSED = ("404.html", "sitemap.xml", "objects.inv")
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
INLINE_SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
ALIGNED = re.compile(r'<(t[hd]) style="text-align: (left|center|right);">')
# The search puts a style element into its shadow root, which the policy forbids.
SHADOW_STYLE = re.compile(
    r'(\w+)\.appendChild\(\w+\("style",\{\},(\w+)\.toString\(\)\)\)'
)
SHADOW_SHEET = (
    r"\1.adoptedStyleSheets=[new CSSStyleSheet],"
    r"\1.adoptedStyleSheets[0].replaceSync(\2.toString())"
)
INLINE_STYLE = re.compile(r"<style|<[^>]*\sstyle=")


def main() -> int:
    """Build the site; return an exit code."""
    with tempfile.TemporaryDirectory(prefix="seamark-docs-") as folder:
        work = Path(folder)
        collect(work)
        command = [
            sys.executable,
            "-m",
            "zensical",
            "build",
            "--strict",
            "--config-file",
            CONFIG,
        ]
        built = subprocess.run(
            command,
            cwd=work,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if built.returncode:
            sys.stderr.write(built.stdout)
            return built.returncode
        finish(work / "site")
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.copytree(work / "site", SITE)
    sys.stdout.write(f"{SITE} is built; the server shows it at /help/.\n")
    return 0


def collect(work: Path) -> None:
    """Copy the pages, their linked files, and the SDK for its docstrings."""
    docs = work / "docs"
    shutil.copytree(DOCS, docs, ignore=shutil.ignore_patterns(CONFIG))
    shutil.copy(DOCS / CONFIG, work)
    shutil.copy(MARK, docs)
    (work / "seamark").symlink_to(ROOT / "agent")
    origins = {docs / name: page for page, name in ROOT_PAGES.items()}
    for copy, page in origins.items():
        shutil.copy(page, copy)
    for copy in sorted(docs.rglob("*.md")):
        origin = origins.get(copy, DOCS / copy.relative_to(docs))
        text = with_links(copy.read_text("utf-8"), copy, origin, docs)
        copy.write_text(text, "utf-8")


def with_links(text: str, copy: Path, origin: Path, docs: Path) -> str:
    """Let links of a copied page lead to copies, and copy files outside of docs/."""

    def replaced(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        source = (origin.parent / target).resolve()
        if ":" in target or not source.is_file():
            return match[0]
        if source in ROOT_PAGES:
            found = docs / ROOT_PAGES[source]
        elif source.is_relative_to(DOCS):
            found = docs / source.relative_to(DOCS)
        else:
            found = docs / "files" / source.relative_to(ROOT)
            found.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, found)
        return f"{before}{os.path.relpath(found, copy.parent)}{after}"

    return LINK.sub(replaced, text)


def finish(site: Path) -> None:
    """Remove unused files, and move inline scripts and styles of all pages to files."""
    for name in UNUSED:
        (site / name).unlink(missing_ok=True)
    (bundle,) = site.glob("assets/javascripts/bundle.*.js")
    bundle.write_text(with_shadow_sheet(bundle.read_text("utf-8")), "utf-8")
    scripts = site / "assets/inline"
    scripts.mkdir(parents=True)
    for page in sorted(site.rglob("*.html")):
        text = without_inline(page.read_text("utf-8"), page.parent, scripts)
        page.write_text(text, "utf-8")


def with_shadow_sheet(script: str) -> str:
    """Return the bundle with a style sheet object in place of a style element.

    Raises:
        ValueError: This version of the bundle does it in another way.
    """
    script, count = SHADOW_STYLE.subn(SHADOW_SHEET, script)
    if count != 1:
        raise ValueError(f"{count} style elements in the bundle; expected 1")
    return script


def without_inline(html: str, folder: Path, scripts: Path) -> str:
    """Return a page with its inline scripts in files, and alignment as classes.

    Raises:
        ValueError: There are other inline styles, which pages may not have.
    """

    def moved(match: re.Match[str]) -> str:
        name = hashlib.sha256(match[1].encode()).hexdigest()[:12] + ".js"
        (scripts / name).write_text(match[1], "utf-8")
        return f'<script src="{os.path.relpath(scripts / name, folder)}"></script>'

    html = ALIGNED.sub(r'<\1 class="align-\2">', INLINE_SCRIPT.sub(moved, html))
    if style := INLINE_STYLE.search(html):
        raise ValueError(f"{folder}: inline style: {style[0]}")
    return html


if __name__ == "__main__":
    sys.exit(main())
