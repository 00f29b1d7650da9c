# Two accounts are made at the same time.
perl adduser.pl alice &
perl adduser.pl bob &
wait
