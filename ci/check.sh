#!/usr/bin/env bash
# What a CI job runs on each commit: the canonical suite on the engines present, judged against the accepted baseline.
#   ci/check.sh [upright check arguments]
# Results go to $UPRIGHT_DB (upright.db here by default), reports to $UPRIGHT_REPORTS (reports/ by default).
# Exit status: 0 nothing worse, 1 a case regressed or newly broke, 2 could not run.
set -euo pipefail
reports=${UPRIGHT_REPORTS:-reports}
mkdir -p "$reports"
exec upright check --junit "$reports/upright.xml" --markdown "$reports/upright.md" --json-file "$reports/upright.jsonl" "$@"
