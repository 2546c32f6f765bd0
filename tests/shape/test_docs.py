"""The documentation agrees with the code: links, paths, settings and tables of figures."""

import re
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from portal.variables import OTHERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md")])
MAX_README = 200  # lines
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
OF_THE_PROJECT = re.compile(r"\b(?:apps|deploy|docs|extensions|lab|portal|static|templates|tests)/[\w./-]*[\w/]")

each_page = pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def writer() -> ModuleType:
    spec = spec_from_file_location("write", DOCS / "write.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def anchors(text: str) -> set[str]:
    """The names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", CODE_BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> Iterator[str]:
    for link in LINK.findall(CODE_BLOCK.sub("", text)):
        file, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in anchors(text_of(target))):
            yield link


def missing_paths(text: str) -> Iterator[str]:
    for path in OF_THE_PROJECT.findall(text):
        is_optional = path.startswith("lab/") and not (ROOT / "lab").exists()
        if not is_optional and not (ROOT / path).exists():
            yield path


def unknown_variables(text: str) -> set[str]:
    known = set(re.findall(r"\"(WIREBEAT_\w+)\"", text_of(ROOT / "portal" / "variables.py"))) | OTHERS
    return set(re.findall(r"\bWIREBEAT_[A-Z_]+[A-Z]\b", text)) - known


@each_page
def test_all_links_lead_somewhere(file: Path):
    assert list(broken_links(file, text_of(file))) == []


@each_page
def test_all_named_paths_exist(file: Path):
    assert list(missing_paths(text_of(file))) == []


@each_page
def test_all_named_variables_exist(file: Path):
    assert unknown_variables(text_of(file)) == set()


def test_missing_links_paths_and_settings_are_found():
    page = DOCS / "api.md"
    assert list(broken_links(page, "[a](nowhere.md) [b](#rest) [c](#nowhere) [d](https://example.org/)")) == [
        "nowhere.md", "#nowhere",
    ]  # fmt: skip
    assert list(missing_paths("`apps/search/` and `apps/wombat/models.py`.")) == ["apps/wombat/models.py"]
    assert unknown_variables("`WIREBEAT_" + "WOMBAT`") == {"WIREBEAT_" + "WOMBAT"}


def test_the_readme_is_short():
    assert len(text_of(ROOT / "README.md").splitlines()) <= MAX_README


def test_every_page_is_linked():
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(text_of(page))
        if "://" not in link
    }
    assert {page for page in PAGES if page not in linked} <= {ROOT / "README.md"}


def test_the_map_lists_every_app():
    section = text_of(DOCS / "architecture.md").partition("\napps/ ")[2].partition("\nextensions/ ")[0]
    listed = re.findall(r"^  (\w+)/ ", section, re.MULTILINE)
    assert sorted(listed) == sorted(file.parent.name for file in (ROOT / "apps").glob("*/__init__.py"))


def test_the_page_of_settings_is_up_to_date():
    write = writer()
    page = text_of(write.CONFIGURATION)
    assert write.with_settings(page, text_of(write.VARIABLES)) == page, "run: python3 docs/write.py settings"


def test_a_setting_without_a_description_is_refused():
    with pytest.raises(ValueError, match="WIREBEAT_X has no comment"):
        writer().table_of_settings('## Group\nX = environment.text("WIREBEAT_X")\n')


def test_a_setting_is_described_by_its_comment_and_its_reader():
    source = (
        "MOST = 5\n"
        "## Group\n"
        "#: How many of\n"
        "#: them there are.\n"
        'NUMBER = environment.whole("WIREBEAT_NUMBER", 3, at_least=1, at_most=2 * MOST)\n'
        "#: Which.\n"
        "#: Default: it depends\n"
        'WORD = environment.choice("WIREBEAT_WORD", "a", "b").upper()\n'
    )
    number, word = writer().settings(source)
    assert number == ("WIREBEAT_NUMBER", "Group", "1 to 10", "`3`", "How many of them there are.")
    assert word == ("WIREBEAT_WORD", "Group", "`a`, `b`", "it depends", "Which.")


def test_every_table_of_figures_fits_its_template():
    write = writer()
    tables = list(write.figures(text_of(write.BENCHMARKS)))
    assert len(tables) >= 4
    for table in tables:
        pieces = [re.escape(piece) for piece in re.split(r"\{[^{}]*\}", table[2])]
        assert re.fullmatch(r"[\d.,]+%?".join(pieces), table[3]), table[1]


def test_figures_are_filled_in_from_the_json_of_a_command():
    write = writer()
    page = (
        "before\n<!-- figures search\n| {time.ours.map:.2f} | {runs.1.speed} |\n-->\nold\n<!-- end search -->\nafter\n"
    )
    values = write.numbers({"time.ours": {"map": 0.7214}, "runs": [{"speed": 1}, {"speed": 2}]})
    written = write.with_figures(page, "search", values)
    assert written == page.replace("old\n", "| 0.72 | 2 |\n")
    with pytest.raises(ValueError, match=r"the file has no time\.ours\.map"):
        write.with_figures(page, "search", {})
    with pytest.raises(ValueError, match="no table of figures has the name trends"):
        write.with_figures(page, "trends", values)
