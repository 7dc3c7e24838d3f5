"""What a CI server states: the branch that is built, the branch that it is for, and where a summary goes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """Empty where it states nothing."""

    name: str = ""
    branch: str = ""
    base: str = ""  # of a pull request: the branch that it is for
    default_branch: str = ""  # of the repository
    job: str = ""  # what the workflow calls it: the same in each of its runs
    labels: Mapping[str, str] = field(default_factory=dict)  # of the run
    summary: Path | None = None  # a file to which a summary in Markdown is appended
    annotations: bool = False  # whether lines of standard output annotate the commit


def forge_of(environment: Mapping[str, str]) -> Forge:
    """GitHub Actions (and Gitea, Forgejo), GitLab, or none that is known."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return _github(environment)
    if environment.get("GITLAB_CI") == "true":
        base = environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
        branch = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or environment.get("CI_COMMIT_REF_NAME", "")
        if base and environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != environment.get("CI_PROJECT_ID"):
            branch = f"{environment.get('CI_MERGE_REQUEST_SOURCE_PROJECT_PATH', 'fork')}:{branch}"
        labels = _described({"change": environment.get("CI_MERGE_REQUEST_IID"), "job": environment.get("CI_JOB_URL")})
        return Forge(
            name="GitLab",
            branch=branch,
            base=base,
            default_branch=environment.get("CI_DEFAULT_BRANCH", ""),
            job=environment.get("CI_JOB_NAME", ""),
            labels=labels,
        )
    return Forge()


def _github(environment: Mapping[str, str]) -> Forge:
    base = environment.get("GITHUB_BASE_REF", "")
    branch = environment.get("GITHUB_HEAD_REF") or environment.get("GITHUB_REF_NAME", "")
    event = _event(environment.get("GITHUB_EVENT_PATH", ""))
    change: dict[str, Any] = event.get("pull_request") or {}
    head, into = ((change.get(side) or {}) for side in ("head", "base"))
    if base and (head.get("repo") or {}).get("full_name") != (into.get("repo") or {}).get("full_name"):
        # A fork may call its branch as ours is called; what is accepted there is not accepted here.
        branch = str(head.get("label") or f"fork:{branch}")
    address = "/".join(environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    labels = _described(
        {"change": change.get("number"), "job": f"{address}/actions/runs/{environment.get('GITHUB_RUN_ID', '')}"}
    )
    summary = environment.get("GITHUB_STEP_SUMMARY")
    return Forge(
        name="GitHub",
        branch=branch,
        base=base,
        default_branch=str((event.get("repository") or {}).get("default_branch") or ""),
        job="/".join(environment.get(name, "") for name in ("GITHUB_WORKFLOW", "GITHUB_JOB")),
        labels=labels,
        summary=Path(summary) if summary else None,
        annotations=True,
    )


def _event(path: str) -> dict[str, Any]:
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def _described(labels: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in labels.items() if value}
