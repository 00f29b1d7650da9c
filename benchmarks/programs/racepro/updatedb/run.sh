# Two users renew the database at the same time.
${UPDATEDB:-sh updatedb.sh} &
${UPDATEDB:-sh updatedb.sh} &
wait
test -s db
