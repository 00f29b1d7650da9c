# SPDX-License-Identifier: Apache-2.0
"""Every race, deadlock and failure of a program that its schedules show.

search ─▶ candidates: what the runtime found; endings ─▶ confirm: replay, trace, detect ─▶ findings
"""
