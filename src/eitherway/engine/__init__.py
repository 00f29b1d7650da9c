# SPDX-License-Identifier: Apache-2.0
"""Where branches run. Whoever asks for one knows it only as a future."""
