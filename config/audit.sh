#!/bin/sh
# Check the locked versions for known vulnerabilities, with pip-audit in its own environment.
# Exit status: 0 if none is known, 1 if some are (they are listed), 2 if they could not be looked up (no network).
#
#   sh config/audit.sh [PYTHON]
set -u
cd "$(dirname "$0")/.." || exit 2
python=${1:-python3}
folder=.venv/audit
report=$folder/report.json

unable() {
    printf 'audit: %s This needs the network; nothing is known of the versions.\n' "$1" >&2
    tail -n 1 "$folder/trouble" >&2
    exit 2
}

mkdir -p "$folder" || exit 2
rm -f "$report"
{ "$python" -m venv "$folder" && "$folder/bin/pip" --quiet --disable-pip-version-check install pip-audit; } \
    >"$folder/trouble" 2>&1 || unable "pip-audit could not be installed."
for locked in config/requirements.txt config/requirements-dev.txt; do
    # pip-audit writes the report only if it could look up all versions.
    "$folder/bin/pip-audit" --strict --no-deps --disable-pip --progress-spinner=off -r "$locked" \
        --format=json --output="$report" 2>"$folder/trouble"
    [ -s "$report" ] || unable "The versions in $locked could not be looked up."
    "$python" - "$report" "$locked" <<'PYTHON' || found=1
import json, sys
packages = json.load(open(sys.argv[1]))["dependencies"]
known = [(package, fault) for package in packages for fault in package.get("vulns", ())]
for package, fault in known:
    print(package["name"], package["version"], fault["id"], "fixed in", ", ".join(fault["fix_versions"]) or "none yet")
print(f"{sys.argv[2]}: {len(packages)} versions, {len(known)} known vulnerabilities")
sys.exit(bool(known))
PYTHON
    rm -f "$report"
done
exit "${found:-0}"
