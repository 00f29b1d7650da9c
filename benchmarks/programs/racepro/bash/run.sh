# Two shells end, and each appends to the history and cuts it to its size.
HISTFILE=$PWD/history HISTFILESIZE=4 bash --norc -i < one 2> /dev/null > /dev/null &
HISTFILE=$PWD/history HISTFILESIZE=4 bash --norc -i < two 2> /dev/null > /dev/null &
wait
