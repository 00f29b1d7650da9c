# What both typed is there: three lines fit beside it.
grep -q '^: one' history && grep -q '^: two' history
