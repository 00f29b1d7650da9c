# SPDX-License-Identifier: Apache-2.0
"""`eitherway c++`: a C++ compiler that builds programs for the threads world."""

import argparse

from eitherway.worlds.threads.cc.compiler import CXX
from eitherway.worlds.threads.cc.wrapper import run as compile_with

HELP = "the same for C++ with g++ or clang++"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of ours: the command line is not parsed before it comes here."""


def run(args: argparse.Namespace) -> int:
    """Call the compiler with `args.words`."""
    return compile_with(CXX, args.words)
