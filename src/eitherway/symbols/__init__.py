# SPDX-License-Identifier: Apache-2.0
"""From addresses in ELF files to names: code lines, and global variables."""
