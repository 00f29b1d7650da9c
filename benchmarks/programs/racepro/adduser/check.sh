# All are there, with numbers of their own.
grep -q '^alice:' passwd && grep -q '^bob:' passwd && grep -q '^root:' passwd &&
    [ -z "$(cut -d: -f3 passwd | sort | uniq -d)" ]
