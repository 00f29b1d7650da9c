# SPDX-License-Identifier: Apache-2.0
"""Becomes a program with just the words and environment that it had, started by somebody else.

A debugger names the program by its full path and adds to the environment, which moves the stack.
Run as a script, so that nothing of the tool is loaded before.
"""

import json
import os
import sys


def become(descriptor: int) -> None:
    """What to become is read from there."""
    os.lseek(descriptor, 0, os.SEEK_SET)  # it may be the second time
    with open(descriptor, encoding="utf-8") as stream:
        told = json.load(stream)
    os.execvpe(told["command"][0], told["command"], told["environment"])


if __name__ == "__main__":
    become(int(sys.argv[1]))
