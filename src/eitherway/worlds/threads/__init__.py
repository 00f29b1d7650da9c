# SPDX-License-Identifier: Apache-2.0
"""Threads of one program: built for our runtime, run under a schedule, traced."""
