#!/bin/sh
# Writes the versions that setup.cfg's bounds give today: config/requirements.txt is what the
# service with its embedded servers needs, config/requirements-dev.txt what tests and lint add.
set -eu
python=${1:-python3}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
pip="$work/venv/bin/python -m pip --disable-pip-version-check --quiet"
frozen() {
    $pip freeze --all --exclude wallet-api --exclude pip
}
$pip install --upgrade pip setuptools
$pip install '.[embedded]'
{ echo '# Made by `make lock`: the service and its embedded servers.'; frozen; } > "$work/requirements.txt"
$pip install '.[dev]'
{
    echo '# Made by `make lock`: what tests and lint need besides requirements.txt.'
    frozen | grep -vxF -f "$work/requirements.txt"
} > "$work/requirements-dev.txt"
mv "$work/requirements.txt" "$work/requirements-dev.txt" config/
