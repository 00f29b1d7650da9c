# What tcsh does at its end when `savehist merge` is set and `lock` is not: it reads the history,
# merges its own lines, writes all to another file and renames that.
use strict;
use warnings;

my @mine = grep { !/^set / } <STDIN>;
my @known;
if (open my $history, '<', '.history') {
    @known = <$history>;
    close $history;
}
open my $out, '>', ".history.$$" or die "$!\n";
print $out @known, @mine;
close $out or die "$!\n";
rename ".history.$$", '.history' or die "$!\n";
