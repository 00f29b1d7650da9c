# SPDX-License-Identifier: Apache-2.0
"""Reports of other tools out of the logs that hold them: ThreadSanitizer, Go, Valgrind, KCSAN.

A log is text of any length with anything in it. It is cut into the blocks that are reports, and
each block is read by itself: what is broken costs no more than its own block.
"""
