# SPDX-License-Identifier: Apache-2.0
"""The one model of all worlds: what was done, in which order, what races, what is told."""
