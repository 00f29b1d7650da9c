# SPDX-License-Identifier: Apache-2.0
"""Recordings: read, write, upgrade and store them."""
