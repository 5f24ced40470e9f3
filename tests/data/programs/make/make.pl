# Bodies as Perl makes them: perl make.pl FOLDER
use strict; no warnings; use JSON::PP; use Data::Dumper; use utf8; use Encode;
my $folder = shift; my $json = JSON::PP->new->canonical;
sub ad { my (%change) = @_; my $fields = delete $change{fields} || {};
    return { source_id => '@ID@', category_id => 1020, category_fields => { model_year => 2019, brand => 'volvo', model => 'v60',
        registration_number => '@PLATE@', condition => { mileage => { unit => 'mil', value => 5400 } }, powertrain => { fuels => ['diesel'] }, %$fields },
        price => [ { type => 'list', amount => 189900, currency => 'SEK' } ], body => 'Bra bil', %change } }
sub out { my ($name, $bytes) = @_; open my $file, '>:raw', "$folder/perl-$name.body" or die; print $file $bytes }
my @row = split /;/, 'ABC123;2019;5400;diesel';
out 'comparison-false', $json->utf8->encode(ad(fields => { is_vat_deductible => '' . (1 == 2) }));
out 'comparison-true', $json->utf8->encode(ad(fields => { is_vat_deductible => 0 + (1 == 1) }));
out 'split', $json->utf8->encode(ad(fields => { model_year => $row[1] }));
out 'hash-as-text', '' . ad();
out 'array-as-text', '{"source_id": "@ID@", "price": ' . [ 1 ] . '}';
my $nothing;
out 'undef', qq({"source_id": "\@ID@", "category_id": 1020, "body": $nothing, "visible": true});
out 'sprintf', sprintf('{"source_id": "@ID@", "category_fields": {"condition": {"mileage": {"unit": "mil", "value": %07d}}}}', $row[2]);
out 'dumper', Dumper(ad());
out 'encode-twice', JSON::PP->new->canonical->utf8->encode(ad(body => encode('UTF-8', 'Välskött bil, 500 €')));
out 'latin1', encode('ISO-8859-1', JSON::PP->new->canonical->encode(ad(body => 'Välskött')));
out 'localtime', do { local $ENV{TZ} = 'UTC'; $json->utf8->encode(ad(fields => { in_traffic_date => scalar localtime 1556841600 })) };
out 'joined', $json->utf8->encode(ad(fields => { powertrain => { fuels => join(', ', 'gasoline', 'electric') } }));
out 'quotes', q({"source_id": "@ID@", "body": "Mats "fina" bil"});
