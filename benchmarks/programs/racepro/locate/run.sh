# The database is renewed while somebody asks it.
sh updatedb.sh &
sh locate.sh README
found=$?
wait
exit $found
