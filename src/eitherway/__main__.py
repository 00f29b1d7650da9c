# SPDX-License-Identifier: Apache-2.0
"""`python -m eitherway`, for when the command is not on the PATH."""

from eitherway.cli.main import entry

entry()
