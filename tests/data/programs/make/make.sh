#!/bin/sh
# Records the bodies again: ./make.sh ../recorded. Made with PHP 8.2, Perl 5.36 (JSON::PP), Python 3.11, OpenJDK 17, Node.js 20, Tcl 8.6,
# mawk 1.3.4, SQLite 3.40 and GCC 12 with glibc 2.36, of Debian 12.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
php "$here/make.php" "$folder"
perl "$here/make.pl" "$folder"
python3 "$here/make.py" "$folder"
java "$here/Make.java" "$folder"
TZ=Europe/Stockholm node "$here/make.js" "$folder"
tclsh "$here/make.tcl" "$folder"
mawk -v folder="$folder" -f "$here/make.awk" </dev/null
(cd "$folder" && sqlite3 :memory: <"$here/make.sql")
program=$(mktemp)
cc -o "$program" "$here/make.c" -lm
"$program" "$folder"
rm "$program"
