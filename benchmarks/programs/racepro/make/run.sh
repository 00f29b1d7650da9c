# The objects need a directory that only one of them asks for.
make -j2
