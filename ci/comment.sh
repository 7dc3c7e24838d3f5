#!/usr/bin/env bash
# Puts the body of a comment on a pull request; the one that is there from before is replaced.
#   ci/comment.sh BODY_FILE          needs gh, GH_TOKEN, GITHUB_REPOSITORY and PULL_REQUEST (its number)
# The first line of the body is the mark by which the comment is found again.
set -euo pipefail
body=$1
mark=$(head -n 1 "$body")
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
if ! known=$(MARK=$mark gh api --paginate "$comments" --jq '.[] | select(.body | startswith(env.MARK)) | .id'); then
    echo "::notice::Upright: the comments of pull request $PULL_REQUEST cannot be read; its summary stands in the job"
    exit 0
fi
known=$(head -n 1 <<<"$known")
if [ -n "$known" ]; then
    to=(--method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known")
else
    to=(--method POST "$comments")
fi
if ! gh api "${to[@]}" --field "body=@$body" >/dev/null; then
    # From a fork the token may read only: the check itself must not fail for that.
    echo "::notice::Upright: no comment could be written (permissions: pull-requests: write); the summary stands in the job"
fi
