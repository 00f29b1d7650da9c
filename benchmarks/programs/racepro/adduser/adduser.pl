# adduser as it was: the next free number is looked up in the password file, and the file is written
# anew with one line more. Nothing locks it.
use strict;
use warnings;

my $name = shift;
open my $in, '<', 'passwd' or die "passwd: $!\n";
my @lines = <$in>;
close $in;
my $next = 1000;
for (@lines) {
    my $number = (split /:/)[2];
    $next = $number + 1 if $number >= $next && $number < 60000;
}
open my $out, '>', 'passwd' or die "passwd: $!\n";
print $out @lines, "${name}:x:${next}:${next}::/home/$name:/bin/sh\n";
close $out or die "passwd: $!\n";
