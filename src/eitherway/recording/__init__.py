# SPDX-License-Identifier: Apache-2.0
"""Recordings: read, write, check, upgrade and store them."""
