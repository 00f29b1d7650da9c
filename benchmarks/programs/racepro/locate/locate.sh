# Looks a name up.
grep -- "$1" db
