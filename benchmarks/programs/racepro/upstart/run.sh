# init starts nmbd when smbd has been started, which is not when it is ready.
mkdir -p run log
sh smbd.sh &
sh nmbd.sh &
wait
