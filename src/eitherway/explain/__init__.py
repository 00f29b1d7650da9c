# SPDX-License-Identifier: Apache-2.0
"""Why a run does what it does: the fewest turns that still do it, and the two operations to blame.

A world is known here only as functions: from turns to whether it still happens, and, as in `judge`,
from an arm and a continuation to an outcome.
"""
