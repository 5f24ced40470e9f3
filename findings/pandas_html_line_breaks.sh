#!/usr/bin/env bash
# pandas 3.1.1 writes a line break within a text as a backslash and an `n` into HTML (`DataFrame.to_html`), where it stands for itself. Neither
# a browser nor `pandas.read_html` makes a line break of it, and a text that had the two characters before cannot be told apart. `to_csv` and
# `to_xml` of the same table keep line breaks. Tables of HTML named .xls are a common way from a stock list to a spreadsheet.
#
# Seen:
#   html: <td>One owner.\nTwo keys.</td> read back: 'One owner.\\nTwo keys.'
#   xml: 'One owner.\nTwo keys.' csv: 'One owner.\nTwo keys.'
#
# It fails when the text that is read back has its line break.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pandas==3.1.1 lxml==6.0.2

venv/bin/python - <<'END'
import io
import pandas

text = "One owner.\nTwo keys."
table = pandas.DataFrame({"Remarks": [text]})
html = table.to_html(index=False)
cell = next(line.strip() for line in html.splitlines() if "owner" in line)
back = pandas.read_html(io.StringIO(html))[0]["Remarks"][0]
xml = pandas.read_xml(io.BytesIO(table.to_xml(index=False).encode()))["Remarks"][0]
csv = pandas.read_csv(io.StringIO(table.to_csv(index=False)))["Remarks"][0]
print(f"html: {cell} read back: {back!r}")
print(f"xml: {xml!r} csv: {csv!r}")
assert xml == csv == text
assert back == "One owner.\\nTwo keys.", "to_html keeps line breaks now"
END
