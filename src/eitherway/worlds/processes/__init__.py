# SPDX-License-Identifier: Apache-2.0
"""The world of processes: system calls of a whole tree, recorded, put in another order, let go."""
