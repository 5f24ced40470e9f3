#!/usr/bin/env bash
# Excel::Writer::XLSX 1.10 (Perl) takes a text for a number if it looks like one: `write` with a plate such as 12E345 stores a number cell whose
# content is `Inf`, and the plate is gone without an error. XML Schema spells it `INF`, and openpyxl 3.1.5 then refuses the whole file ("some
# invalid XML"), not the cell. 1E5 and 0E123 become 100000 and 0. `write_string` keeps them. Plates of this form are ordinary in Sweden.
#
# Seen:
#   <c r="A1"><v>Inf</v></c><c r="B1"><v>100000</v></c><c r="C1"><v>0</v></c>
#   openpyxl: ValueError: Unable to read workbook: could not read worksheets from plates.xlsx.
#
# It fails when the cells are texts, or openpyxl reads the file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Debian 12. The packages are unpacked and not installed.
apt-get download --quiet=2 libexcel-writer-xlsx-perl=1.10-1 libarchive-zip-perl=1.68-1 2> apt.log || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" perl; done
python3 -m venv venv
venv/bin/pip install --quiet openpyxl==3.1.5

perl -Iperl/usr/share/perl5 - <<'END'
use strict;
use warnings;
use Excel::Writer::XLSX;
my $book = Excel::Writer::XLSX->new("plates.xlsx");
my $sheet = $book->add_worksheet();
$sheet->write(0, 0, "12E345");
$sheet->write(0, 1, "1E5");
$sheet->write(0, 2, "0E123");
$book->close();
END
venv/bin/python - <<'END'
import re
import zipfile
import openpyxl

cells = re.search("<row.*?</row>", zipfile.ZipFile("plates.xlsx").read("xl/worksheets/sheet1.xml").decode()).group()
print(re.sub("</?row[^>]*>", "", cells))
assert "<v>Inf</v>" in cells and "<v>100000</v>" in cells and "<v>0</v>" in cells
try:
    openpyxl.load_workbook("plates.xlsx")
    raise SystemExit("openpyxl reads the file")
except ValueError as error:
    print("openpyxl: ValueError:", str(error).splitlines()[0])
END
