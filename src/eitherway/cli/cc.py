# SPDX-License-Identifier: Apache-2.0
"""`eitherway cc`: a C compiler that builds programs for the threads world."""

import argparse

from eitherway.worlds.threads.cc.compiler import C
from eitherway.worlds.threads.cc.wrapper import run as compile_with

HELP = "compile and link C as gcc or clang does, for our runtime (every option is the compiler's)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of ours: the command line is not parsed before it comes here."""


def run(args: argparse.Namespace) -> int:
    """Call the compiler with `args.words`."""
    return compile_with(C, args.words)
