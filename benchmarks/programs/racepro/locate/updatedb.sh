# As in findutils 4.4.2: the old database is removed before the new one takes its name.
rm -f db.n
find files | sort > db.n
if test -s db.n; then
    rm -f db
    mv db.n db
    chmod 644 db
fi
