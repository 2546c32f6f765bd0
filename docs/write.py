"""Write the generated parts of the documentation.

python3 docs/write.py settings              the table of settings, from portal/variables.py
python3 docs/write.py figures NAME FILE     a table of figures, from the JSON of a command
.venv/bin/python docs/write.py licences     the licences of all locked packages that are installed

A generated part stands between two comments. Those of a table of figures hold the table with places to fill in::

    <!-- figures NAME
    | method | precision |
    | --- | --- |
    | BM25 | {cranfield.bm25.map:.3f} |
    -->
    (the table, as last written)
    <!-- end NAME -->

A place names a number by its path in the JSON file, with the format of `str.format` behind a colon.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
VARIABLES = DOCS.parent / "portal" / "variables.py"
CONFIGURATION = DOCS / "configuration.md"
BENCHMARKS = DOCS / "benchmarks.md"
LICENCES = DOCS / "licences.md"
LOCK = DOCS.parent / "portal" / "requirements.lock"
PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
VALUES = {  # by the reader of `portal.environment`
    "class_path": "class",
    "database": "URL",
    "folder": "path",
    "hosts": "host names",
    "identity_providers": "JSON",
    "mail_address": "mail address",
    "mail_server": "URL",
    "open_hosts": "hosts",
    "options": "JSON object",
    "origins": "origins",
    "secret_key": "secret",
    "server": "URL",
    "site": "URL",
    "text": "text",
    "time_zone": "time zone",
    "token": "secret",
    "truth": "`yes`, `no`",
}


class Setting(NamedTuple):
    name: str  # of the environment variable
    group: str
    values: str
    default: str
    meaning: str


def settings(source: str) -> Iterator[Setting]:
    """The settings of `portal/variables.py`, with what the comments above them say."""
    lines = source.splitlines()
    constants: dict[str, object] = {}
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Assign):
            continue
        if (call := _reader(statement.value)) is None:
            _remember(statement, constants)
            continue
        name, *defaults = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
        comment = _comment_above(lines, statement.lineno)
        if not comment:
            raise ValueError(f"{name} has no comment that begins with #:")
        stated = comment.pop().removeprefix("Default: ") if comment[-1].startswith("Default: ") else None
        group = next(line[3:] for line in reversed(lines[: statement.lineno]) if line.startswith("## "))
        yield Setting(str(name), group, _values(call, constants), stated or _default(defaults), " ".join(comment))


def _reader(value: ast.expr) -> ast.Call | None:
    """The call of a reader of `portal.environment` within an expression."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("environment"))):
                return node
    return None


def _remember(statement: ast.Assign, constants: dict[str, object]) -> None:
    if isinstance(statement.value, ast.Constant) and isinstance(statement.targets[0], ast.Name):
        constants[statement.targets[0].id] = statement.value.value


def _comment_above(lines: list[str], number: int) -> list[str]:
    found: list[str] = []
    for line in reversed(lines[: number - 1]):
        if not line.startswith("#: "):
            break
        found.insert(0, line[3:])
    return found


def _values(call: ast.Call, constants: dict[str, object]) -> str:
    reader = ast.unparse(call.func).removeprefix("environment.")
    if reader == "choice":
        words = [node.value for each in call.args[1:] for node in ast.walk(each) if isinstance(node, ast.Constant)]
        return ", ".join(f"`{word}`" for word in dict.fromkeys(words))
    if reader in {"whole", "number"}:
        limits = {each.arg: _evaluated(each.value, constants) for each in call.keywords}
        return f"{limits.get('at_least', 0):,} to {limits['at_most']:,}"
    return VALUES[reader]


def _evaluated(value: ast.expr, constants: dict[str, object]) -> object:
    """The number that an expression of literals and constants of the module stands for."""
    return eval(ast.unparse(value), {"__builtins__": {}}, constants)  # of our own source


def _default(values: list[object]) -> str:
    match values:
        case [bool(value), *_]:
            return "`yes`" if value else "`no`"
        case [str(value) | int(value) | float(value), *_] if value != "":
            return f"`{value}`"
    return ""


def table_of_settings(source: str) -> str:
    text, group = "", ""
    for setting in settings(source):
        if setting.group != group:
            group = setting.group
            text += f"\n## {group}\n\n| variable | values | default | meaning |\n| --- | --- | --- | --- |\n"
        text += f"| `{setting.name}` | {setting.values} | {setting.default} | {setting.meaning} |\n"
    return text + "\n"


def numbers(value: object, path: str = "") -> dict[str, object]:
    """All values of a JSON document by their paths; `a.b` may be a key itself, too."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        return {path: value}
    prefix = f"{path}." if path else ""
    return {key: each for name, part in pairs for key, each in numbers(part, f"{prefix}{name}").items()}


def filled(template: str, values: dict[str, object]) -> str:
    def value(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ValueError(f"the file has no {place[1]}; it has {', '.join(sorted(values)[:20])} ...")
        return format(values[place[1]], place[2] or "")

    return PLACE.sub(value, template)


def with_settings(page: str, source: str) -> str:
    begin, rest = page.split("<!-- settings -->\n", 1)
    end = rest[rest.index("<!-- end settings -->") :]
    return f"{begin}<!-- settings -->\n{table_of_settings(source)}{end}"


def figures(page: str) -> Iterator[re.Match[str]]:
    """Each table of figures: its name, its template, and what stands there."""
    return re.finditer(r"<!-- figures (\S+)\n(.*?)-->\n(.*?)<!-- end \1 -->", page, re.DOTALL)


def with_figures(page: str, name: str, values: dict[str, object]) -> str:
    for found in figures(page):
        if found[1] == name:
            return page[: found.start(3)] + filled(found[2], values) + page[found.end(3) :]
    raise ValueError(f"no table of figures has the name {name}")


def licence(metadata: Message) -> str:
    """The licence that a package states: as an expression, by its classifiers, or in a line of its own."""
    stated = [
        line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier", []) if line.startswith("License ::")
    ]
    text = str(metadata.get("License-Expression") or "; ".join(stated) or metadata.get("License") or "")
    return " ".join(text.split("\n")[0].split())[:80] or "see its files"


def table_of_licences(lock: str) -> str:
    """A row for each package of a lock that is installed here."""
    text = "| package | version | licence |\n| --- | --- | --- |\n"
    for name in sorted(set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))):
        with suppress(PackageNotFoundError):
            text += f"| {name} | {version(name)} | {licence(metadata(name))} |\n"
    return text


def main(arguments: list[str]) -> None:
    match arguments:
        case ["settings"]:
            page = CONFIGURATION.read_text(encoding="utf-8")
            CONFIGURATION.write_text(with_settings(page, VARIABLES.read_text(encoding="utf-8")), encoding="utf-8")
        case ["figures", name, file]:
            values = numbers(json.loads(Path(file).read_text(encoding="utf-8")))
            page = BENCHMARKS.read_text(encoding="utf-8")
            BENCHMARKS.write_text(with_figures(page, name, values), encoding="utf-8")
        case ["licences"]:
            page = LICENCES.read_text(encoding="utf-8")
            table = table_of_licences(LOCK.read_text(encoding="utf-8"))
            LICENCES.write_text(f"{page.split('| package |')[0]}{table}", encoding="utf-8")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(str(error))
