# As in findutils 4.9: the new database has one name for all who make it.
rm -f db.n
if find files | sort > db.n; then
    :
else
    echo "failed to generate db.n" >&2
    rm -f db.n
    exit 1
fi
if test -s db.n; then
    chmod 644 db.n
    mv db.n db
else
    echo "updatedb: new database would be empty" >&2
    rm -f db.n
fi
