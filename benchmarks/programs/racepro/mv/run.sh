# A file is replaced by one from another file system, while somebody reads it.
mkdir -p /dev/shm/eitherway-mv
echo new > /dev/shm/eitherway-mv/settings
mv /dev/shm/eitherway-mv/settings settings &
cat settings
read_status=$?
wait
rm -r /dev/shm/eitherway-mv
exit $read_status
