# A log is rotated while the daemon of another user writes to it.
mkdir -m 755 log
echo first > log/messages
chmod 666 log/messages
echo "$PWD/log/messages { size 1" > rotate.conf
echo "rotate 1" >> rotate.conf
echo "create 0666" >> rotate.conf
echo "}" >> rotate.conf
logrotate --state status rotate.conf &
setpriv --reuid 65534 --clear-groups sh -c 'echo second >> log/messages'
written=$?
wait
exit $written
