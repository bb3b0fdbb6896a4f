#!/bin/sh
# Install what some tests need beside Python packages: a C compiler with its sanitizers.
set -eu
missing() { ! command -v "$1" >/dev/null 2>&1; }

if missing cc; then
  if missing apt-get; then
    echo "No C compiler (cc), and no apt-get to install one: install gcc or clang by hand." >&2
    exit 1
  fi
  SUDO=""
  [ "$(id -u)" -eq 0 ] || SUDO="sudo"
  $SUDO apt-get update -qq
  $SUDO apt-get install -y -qq gcc libc6-dev
fi
cc --version | head -n 1
