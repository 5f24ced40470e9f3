<?php
// Bodies as PHP makes them: php make.php FOLDER
$folder = $argv[1];
function ad(array $change = [], array $fields = []): array {
    return array_merge(['source_id' => '@ID@', 'category_id' => 1020, 'category_fields' => array_merge([
        'model_year' => 2019, 'brand' => 'volvo', 'model' => 'v60', 'registration_number' => '@PLATE@',
        'condition' => ['mileage' => ['unit' => 'mil', 'value' => 5400]], 'powertrain' => ['fuels' => ['diesel']]], $fields),
        'price' => [['type' => 'list', 'amount' => 189900, 'currency' => 'SEK']], 'body' => 'Bra bil'], $change);
}
function write(string $name, string $bytes): void { global $folder; file_put_contents("$folder/php-$name.body", $bytes); }
$price = fn($amount) => ad(['price' => [['type' => 'list', 'amount' => $amount, 'currency' => 'SEK']]]);
write('false-as-text', json_encode(ad([], ['is_vat_deductible' => (string) false])));
write('true-as-text', json_encode(ad([], ['is_vat_deductible' => (string) true])));
write('empty-array', json_encode(ad([], ['condition' => []])));
write('datetime', json_encode(ad([], ['in_traffic_date' => new DateTime('2019-05-03', new DateTimeZone('Europe/Stockholm'))])));
write('date-german', json_encode(ad([], ['in_traffic_date' => date('d.m.Y', 1556841600)])));
write('number-format-swedish', json_encode($price(number_format(189900.5, 2, ',', ' '))));
write('number-format-english', json_encode($price(number_format(189900))));
write('encoded-twice', json_encode(ad(['category_fields' => json_encode(ad()['category_fields'])])));
write('array-filter', json_encode(ad(['image_urls' => array_filter(['', 'https://img.example/1.jpg', 'https://img.example/2.jpg'])])));
write('build-query', http_build_query(ad()));
write('serialize', serialize(ad()));
write('array-as-text', @(string) ad());
write('var-export', var_export(ad(), true));
write('addslashes', addslashes(json_encode(ad())));
write('urlencode', urlencode(json_encode(ad())));
write('htmlentities', json_encode(ad(['body' => htmlentities('Välskött bil, R&S')])));
write('utf8-encode', json_encode(ad(['body' => encoded_again('Välskött bil')])));
// utf8_encode of a text that is UTF-8 already.
function encoded_again(string $text): string { return iconv('ISO-8859-1', 'UTF-8', $text); }
