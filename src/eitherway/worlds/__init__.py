# SPDX-License-Identifier: Apache-2.0
"""Everything in Python that knows how actors are controlled, one folder per world."""
