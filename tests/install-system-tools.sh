#!/bin/sh
# Install what some tests need beside Python packages: a C compiler with its sanitizers, and Chromium.
set -eu
missing() { ! command -v "$1" >/dev/null 2>&1; }

packages=""
wanted=""
missing cc && packages="$packages gcc libc6-dev" && wanted="$wanted a C compiler (cc)"
missing chromium && packages="$packages chromium" && wanted="$wanted Chromium (chromium)"

if [ -n "$packages" ]; then
  if missing apt-get; then
    echo "Missing, and no apt-get to install it:$wanted. Install it by hand." >&2
    exit 1
  fi
  SUDO=""
  [ "$(id -u)" -eq 0 ] || SUDO="sudo"
  $SUDO apt-get update -qq
  # shellcheck disable=SC2086 # a list of names
  $SUDO apt-get install -y -qq --no-install-recommends $packages
fi
cc --version | head -n 1
chromium --version | head -n 1
