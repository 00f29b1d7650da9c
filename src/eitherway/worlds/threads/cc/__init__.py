# SPDX-License-Identifier: Apache-2.0
"""`eitherway cc` and `eitherway c++`: a compiler's command line, done for our runtime.

A build calls this thousands of times, so it starts fast: what crosses its stages are named tuples,
and neither dataclasses nor subprocess, tempfile or shutil is imported, which would double the time.
"""
