#!/bin/sh
# Install what some tests need beside Python packages: a C compiler with its sanitizers, a checker of
# C, Node.js, Chromium, a reader of PDF, an MQTT broker, a checker of Prometheus' rules, and the
# compilers and emulators of the platforms that models are exported to.
set -eu
missing() { ! command -v "$1" >/dev/null 2>&1; }
# Whether a compiler is missing, or a header that its library has.
lacks() { ! echo "#include <$2>" | "$1" -E -x c - >/dev/null 2>&1; }

packages=""
wanted=""
want() {
  wanted="$wanted${wanted:+,} $1"
  shift
  packages="$packages $*"
}

missing cc && want "a C compiler (cc)" gcc libc6-dev
missing cppcheck && want "a checker of C (cppcheck)" cppcheck
missing node && want "Node.js (node)" nodejs
missing chromium && want "Chromium (chromium)" chromium
missing pdftotext && want "a reader of PDF (pdftotext)" poppler-utils
missing mosquitto && want "an MQTT broker (mosquitto)" mosquitto
missing mosquitto_pub && want "clients of a broker (mosquitto_pub)" mosquitto-clients
missing promtool && want "a checker of Prometheus' rules (promtool)" prometheus
missing arm-none-eabi-gcc && want "a compiler for Cortex-M (arm-none-eabi-gcc)" gcc-arm-none-eabi
missing qemu-system-arm && want "an emulator of Cortex-M (qemu-system-arm)" qemu-system-arm
missing riscv64-unknown-elf-gcc &&
  want "a compiler for RISC-V (riscv64-unknown-elf-gcc)" gcc-riscv64-unknown-elf
missing qemu-system-riscv32 && want "an emulator of RISC-V (qemu-system-riscv32)" qemu-system-misc
lacks aarch64-linux-gnu-gcc stdio.h &&
  want "a compiler for AArch64 (aarch64-linux-gnu-gcc)" gcc-aarch64-linux-gnu libc6-dev-arm64-cross
missing qemu-aarch64 && want "an emulator of AArch64 (qemu-aarch64)" qemu-user
lacks avr-gcc avr/io.h && want "a compiler for AVR (avr-gcc, avr-libc)" gcc-avr avr-libc
lacks cc sodium.h && want "signatures in C (libsodium)" libsodium-dev
lacks cc simavr/sim_avr.h && want "an emulator of AVR (libsimavr)" libsimavr-dev

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
for tool in cc cppcheck node chromium arm-none-eabi-gcc riscv64-unknown-elf-gcc aarch64-linux-gnu-gcc \
  avr-gcc qemu-system-arm qemu-system-riscv32 qemu-aarch64; do
  "$tool" --version | head -n 1
done
