"""A script's result, which is printed and stored in bench/results."""

import re

from lib.build import ROOT

FOLDER = ROOT / "bench" / "results"


class Result:
    """Lines of Markdown, in order."""

    def __init__(self, name, question, command):
        self.name = name
        self.head = [f"# {name}", "", f"**Question:** {question}", "", f"**Command:** `{command}`"]
        self.body = []

    def text(self, *lines):
        """Adds a paragraph."""
        self.body += ["", *lines]

    def table(self, heads, rows):
        """Adds a table. Columns whose heads begin with `>` are right-aligned, for numbers."""
        rule = ["--:" if head.startswith(">") else "---" for head in heads]
        heads = [head.lstrip(">") for head in heads]
        self.body.append("")
        for row in (heads, rule, *rows):
            self.body.append("| " + " | ".join(str(cell) for cell in row) + " |")

    def verdict(self, met, words):
        """Adds a line that compares the result with a target."""
        self.text(f"**{'Met' if met else 'Missed'}:** {words}")

    def write(self, watch):
        """Prints the result and writes it to its file. `watch` was created when the work began."""
        machine = ["", f"**Machine:** {watch.words()}"]
        text = "\n".join(self.head + machine + self.body) + "\n"
        print(text)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{self.name}.md").write_text(text)
        results = {path.stem: path.read_text() for path in FOLDER.glob("*.md")}
        results.pop("README", None)
        (FOLDER / "README.md").write_text(overview(results))


def overview(results):
    """A table of all results, from their texts by name."""
    lines = ["# Last results", "", "Written by the scripts.", "", "| result | when | verdict |"]
    lines.append("| --- | --- | --- |")
    for name, text in sorted(results.items()):
        date = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", text)
        others = re.search(r"other programs took \d+%", text)
        verdict = re.search(r"\*\*(Met|Missed):\*\* .*", text)
        when = ", ".join(found.group(0) for found in (date, others) if found)
        lines.append(f"| [{name}]({name}.md) | {when} | {verdict.group(0) if verdict else 'evidence, no target'} |")
    return "\n".join(lines) + "\n"


def percent(share, digits=2):
    """A share as text."""
    return f"{share * 100:.{digits}f} %"


def marked(met):
    """A cell that shows whether a target is met."""
    return "yes" if met else "**no**"
