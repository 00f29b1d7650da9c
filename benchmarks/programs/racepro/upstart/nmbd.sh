# Needs it, and says so in its log.
exec 2>> log/nmbd
if [ -d run/samba ]; then
    echo $$ > run/samba/nmbd.pid
else
    echo "nmbd: ERROR: run/samba does not exist" >&2
fi
