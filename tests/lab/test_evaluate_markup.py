import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


def test_the_command_counts_every_input_of_every_collection(tmp_path: Path) -> None:
    (tmp_path / "strings.json").write_text(json.dumps(["<script>x</script>", "javascript:x"]))
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "1.test").write_text("<b onclick=x>y\n--\n<b>y</b>")
    (tmp_path / "README.md").write_text("<script>")
    output = StringIO()
    call_command("evaluate_markup", hostile=tmp_path, json=tmp_path / "result.json", stdout=output)
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["pairs.cases"], result["strings.json.cases"], result["all.cases"]) == (1, 4, 5)
    assert (result["all.exceptions"], result["all.unsafe"], result["all.unstable"]) == (0, 0, 0)
    assert "strings.json" in output.getvalue()


@pytest.mark.parametrize(("folder", "complaint"), [("missing", "is no folder"), (".", "no file in a known format")])
def test_the_command_names_a_folder_it_cannot_use(tmp_path: Path, folder: str, complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("evaluate_markup", hostile=tmp_path / folder)
