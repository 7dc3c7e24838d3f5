"""What a CI job runs on each commit, on any CI server: `upright ci`, found beside this file or installed.

    python -P ci/job.py [arguments of upright ci]

docs/ci.md says what it compares with, what it writes and how to accept.
"""

import sys
from pathlib import Path

try:
    from validation.cli import main
except ModuleNotFoundError as error:
    if error.name != "validation":
        raise
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    from validation.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["ci"]
    main()
