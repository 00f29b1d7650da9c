# SPDX-License-Identifier: Apache-2.0
"""Commands in namespaces of their own, over a file system whose changes vanish."""
