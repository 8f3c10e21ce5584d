#!/bin/sh
# Write the newest versions within the bounds of setup.cfg: config/requirements.txt for the service with its
# embedded servers, requirements-dev.txt for tests and lint. Each with the hashes of all files of its version, for
# any platform and Python.
set -eu
python=${1:-python3}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
pip="$work/venv/bin/python -m pip --disable-pip-version-check --quiet"
frozen() {
    # A dependency of Python 3.11.2 alone, that of Debian 12.
    $pip freeze --all --exclude wallet-api --exclude pip | sed "s/^async-timeout==.*/&; python_full_version < '3.11.3'/"
}
# What any platform and Python need besides, with the conditions for it.
completed() {
    "$work/uv/bin/uv" pip compile --quiet --universal --no-header --no-annotate --python-version 3.11 -
}
hashed() {
    "$work/uv/bin/uv" pip compile --quiet --universal --no-deps --no-header --no-annotate --generate-hashes \
        --python-version 3.11 -
}
"$python" -m venv "$work/uv"
"$work/uv/bin/python" -m pip --disable-pip-version-check --quiet install uv
$pip install --upgrade pip setuptools
$pip install '.[embedded]' async-timeout
frozen | completed > "$work/service"
$pip install '.[dev]'
frozen | completed | grep -vxF -f "$work/service" > "$work/tests"
{ echo '# Made by `make lock`: the service and its embedded servers.'; hashed < "$work/service"; } > "$work/requirements.txt"
{
    echo '# Made by `make lock`: what tests and lint need besides requirements.txt.'
    hashed < "$work/tests"
} > "$work/requirements-dev.txt"
mv "$work/requirements.txt" "$work/requirements-dev.txt" config/
