# Makes the directory that both use.
mkdir run/samba
echo $$ > run/samba/smbd.pid
