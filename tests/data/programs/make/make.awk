# Bodies as awk makes them of a file of rows: mawk -v folder=FOLDER -f make.awk </dev/null
function out(name, text) { printf "%s", text > (folder "/awk-" name ".body"); close(folder "/awk-" name ".body") }
function ad(change) { return "{\"source_id\": \"@ID@\", \"category_id\": 1020, " change "}" }
BEGIN {
    row = "007;ABC123;;5400;Mats \"fina\" bil\r"
    count = split(row, of, ";")
    out("missing-value", ad("\"body\": " of[3] ", \"visible\": true"))
    out("quotes", ad("\"body\": \"" substr(of[5], 1, length(of[5]) - 1) "\""))
    out("carriage-return", ad("\"body\": \"x\r\""))
    out("zeros", ad("\"price\": [{\"type\": \"list\", \"amount\": " of[1] "}]"))
    out("unquoted", ad("\"category_fields\": {\"registration_number\": " of[2] "}"))
    images = ""
    for (number = 1; number <= 2; number++) images = images "\"https://img.example/" number ".jpg\", "
    out("trailing-comma", ad("\"image_urls\": [" images "]"))
    out("nan", ad("\"price\": [{\"type\": \"list\", \"amount\": " log(-1) "}]"))
    out("tab", ad("\"body\": \"a\tb\""))
    out("csv", "source_id;brand;model\n" row "\n")
    out("grouped", ad("\"price\": [{\"type\": \"list\", \"amount\": " sprintf("%d %03d", 189, 900) "}]"))
}
