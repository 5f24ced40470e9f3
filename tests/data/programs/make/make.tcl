# Bodies as Tcl makes them, without a library for JSON: tclsh make.tcl FOLDER
set folder [lindex $argv 0]
proc out {name text {encoding utf-8}} {
    global folder
    set file [open "$folder/tcl-$name.body" w]
    fconfigure $file -encoding $encoding -translation lf
    puts -nonewline $file $text
    close $file
}
proc ad {fields {body "Bra bil"}} {
    return "{\"source_id\": \"@ID@\", \"category_id\": 1020, \"category_fields\": {\"model_year\": 2019, \"brand\": \"volvo\", \"model\": \"v60\", \"vin\": \"YV1UZ8256N1234567\"$fields}, \"price\": \[{\"type\": \"list\", \"amount\": 189900, \"currency\": \"SEK\"}\], \"body\": \"$body\"}"
}
set plate ABC123
out unquoted [ad ", \"registration_number\": $plate"]
out dict-as-text [ad ", \"powertrain\": {\"power\": \"[dict create unit kw value 110]\"}"]
out clock [ad ", \"in_traffic_date\": \"[clock format 1556841600 -gmt 1]\""]
out seconds [ad ", \"in_traffic_date\": [clock scan 2019-05-03 -gmt 1]"]
out boolean [ad ", \"is_vat_deductible\": \"yes\""]
out zeros [ad ", \"condition\": {\"mileage\": {\"unit\": \"mil\", \"value\": [format %07d 5400]}}"]
out empty-list [ad ", \"powertrain\": {\"fuels\": \"[list]\"}"]
out convertto-twice [ad "" [encoding convertfrom iso8859-1 [encoding convertto utf-8 "V\u00e4lsk\u00f6tt bil"]]]
out line-break [ad "" "Rad 1\nRad 2"]
