# Sends bodies in pieces by HTTP::Tiny, and prints what it sees of each answer: url, then lines of TIMES METHOD PATH TOKEN BYTES.
use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;

my $piece = " " x 1000;
while (my $line = <STDIN>) {
    my ($times, $method, $path, $token, $size) = split " ", $line;
    for (1 .. $times) {
        my $left = $size / length $piece;
        my $answer = HTTP::Tiny->new->request($method, "$ARGV[0]$path", {
            headers => {"X-Auth-Token" => $token},
            content => sub { return $left-- > 0 ? $piece : undef },
        });
        print encode_json({status => $answer->{status} + 0, body => $answer->{content}}), "\n";
    }
}
