#!/usr/bin/env bash
# Installs the real clients that the e2e tests run, into .cache/e2e: the Python SDK
# and FastMCP from PyPI, the TypeScript SDK from npm. Does nothing twice.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parts=${E2E_PARTS:-$here/../.cache/e2e}
mkdir -p "$parts"
cd "$parts"

cp "$here"/clients/{package.json,package-lock.json,.npmrc,requirements.txt,close.mjs,close.py} .

fresh() { [ -f "$1.done" ] && cmp -s "$1" "$1.done"; }

if ! fresh requirements.txt; then
  rm -rf venv
  python3 -m venv venv
  ./venv/bin/pip install --quiet --disable-pip-version-check --no-input -r requirements.txt
  cp requirements.txt requirements.txt.done
fi

if ! fresh package-lock.json; then
  # `npm install` keeps to the lock file and, unlike `npm ci`, accepts registries
  # that do not serve packages for other platforms.
  npm install --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json package-lock.json.done
fi
