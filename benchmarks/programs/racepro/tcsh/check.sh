grep -q '^: one' .history && grep -q '^: two' .history
