# SPDX-License-Identifier: Apache-2.0
"""The experiment on a race: both orders, compared, and the class of what they do.

A world is known here only as a function from an arm and a continuation to an outcome.
"""
