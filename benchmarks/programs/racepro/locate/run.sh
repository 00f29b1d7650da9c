# The database is renewed while somebody asks it.
updatedb=${UPDATEDB:-sh updatedb.sh}
$updatedb
$updatedb &
${LOCATE:-sh locate.sh} README
found=$?
wait
exit $found
