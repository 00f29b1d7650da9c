# SPDX-License-Identifier: Apache-2.0
"""What this machine can do for each world, found out by doing it."""
