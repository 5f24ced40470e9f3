"""The page as a script reads it: its fenced blocks, each with the comment before it, and the numbers of its tables."""

import os
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^(?:<!-- (?P<use>[^>]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run.
VARIABLE = [
    (r"^\S+Z  ", ""),
    (r"\(\d{15,}\)", "(ID)"),
    (r"\b[0-9A-F]+/[0-9A-F]{2,}\b", "LSN"),
    (r"db-\d|10\.0\.0\.1\d", "DB"),
    (r"[-+]{2,}", "--"),
    (r"[ ]+", " "),
]


class Block:
    def __init__(self, found):
        self.use, self.text = found["use"] or "", found["text"]


class Page:
    def __init__(self, name):
        self.file = DOCS / name
        self.text = self.file.read_text()
        self.blocks = [Block(found) for found in BLOCK.finditer(self.text)]

    def block(self, use):
        """The only block with this comment."""
        [block] = [block for block in self.blocks if block.use == use]
        return block

    def output_after(self, block):
        following = self.blocks[self.blocks.index(block) + 1 :][:1]
        return following[0] if following and following[0].use == "output" else None

    def expect(self, block, seen):
        """Whether the output is as the page shows it; with UPDATE_SNAPSHOTS it is written there first."""
        seen = "".join(line.rstrip() + "\n" for line in seen.rstrip().splitlines())
        if constant(block.text) == constant(seen):
            return
        assert os.environ.get("UPDATE_SNAPSHOTS"), f"the page shows\n{block.text}\nand these commands print\n{seen}"
        text = self.file.read_text()
        place = text.index(f"```\n{block.text}```", self.text.index("<!-- output -->"))
        self.file.write_text(text[: place + 4] + seen + text[place + 4 + len(block.text) :])
        block.text = seen

    def table(self, section):
        """The rows of the table of a section, by their first cell: the numbers of the others."""
        text = self.text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
        rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line.startswith("| ")]
        return {name: [float(it) for it in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", " ".join(cells))] for name, *cells in rows}


def constant(text):
    """Without what differs from run to run. The rows of a table may come in any order."""
    for pattern, by in VARIABLE:
        text = re.sub(pattern, by, text, flags=re.MULTILINE)
    return sorted(text.splitlines()) if "| Member |" in text else text
