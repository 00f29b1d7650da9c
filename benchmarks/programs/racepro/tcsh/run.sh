# Two shells end, and each merges what it has into the history.
shell=${TCSH:-perl tcsh.pl}
HOME=$PWD $shell one &
HOME=$PWD $shell two &
wait
