# Two users renew the database at the same time.
renew=${UPDATEDB:-sh updatedb.sh}
eval "$renew" &
eval "$renew" &
wait
test -s db
