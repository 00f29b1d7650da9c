# SPDX-License-Identifier: Apache-2.0
"""Lists of findings: made from races, merged over runs, compared with a baseline, suppressed."""
