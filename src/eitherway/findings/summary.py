# SPDX-License-Identifier: Apache-2.0
"""What stands behind a list of findings."""

from collections import Counter
from collections.abc import Sequence

from eitherway.findings.baseline import Comparison
from eitherway.model.finding import Finding, Summary


def summarized(
    findings: Sequence[Finding],
    comparison: Comparison,
    *,
    suppressed: int = 0,
    unused_suppressions: Sequence[str] = (),
    notes: Sequence[str] = (),
    failing: Sequence[str] = (),
) -> Summary:
    """The summary of these findings."""
    return Summary(
        findings=len(findings),
        new=comparison.new,
        gone=comparison.gone,
        suppressed=suppressed,
        unused_suppressions=tuple(unused_suppressions),
        classes=dict(Counter(finding.klass for finding in findings)),
        notes=tuple(notes),
        failing=tuple(failing),
    )
