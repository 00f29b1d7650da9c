# Two shells end, and each merges what it has into the history.
shell=${TCSH:-perl tcsh.pl}
HOME=$PWD $shell < one > /dev/null 2> /dev/null &
HOME=$PWD $shell < two > /dev/null 2> /dev/null &
wait
