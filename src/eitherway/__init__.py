# SPDX-License-Identifier: Apache-2.0
"""EitherWay: run a program both ways and see what each order does."""

__version__ = "0.1.0"
