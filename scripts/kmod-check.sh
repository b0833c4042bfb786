#!/bin/sh
# Checks cpb's module (lab/kmod) in a kernel that looks for mistakes: lock proving, sleeping where that is forbidden, KASAN.
# Debian's source of the kernel is built small, and boots in QEMU. There the module gets random requests, then also loses
# its accelerator and is unloaded, again and again. Any warning of the kernel is a failure. checkpatch reads the module.
#
# usage: scripts/kmod-check.sh [MINUTES]     the default is 10, half of them with an accelerator that comes and goes
#
# It takes half an hour for the kernel the first time. The result is in lab/kmod/checked.md.
set -eu

minutes=${1:-10}
source=linux-source-6.12
root=$(cd "$(dirname "$0")/.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/kmod-check
mkdir -p "$work"
cd "$work"

say() { printf 'kmod-check: %s\n' "$*" >&2; }

install() {
  missing=
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok' || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  [ "$(id -u)" = 0 ] || { say "this needs Debian's packages$missing"; exit 2; }
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing > /dev/null
}

fetch() {
  say "fetching $source"
  rm -rf fetched && mkdir fetched
  (cd fetched && apt-get download -qq "$source" busybox-static)
  for package in fetched/*.deb; do dpkg-deb -x "$package" fetched; done
  cp "$(find fetched -path '*/bin/busybox')" busybox
  rm -rf kernel unpacked && mkdir unpacked
  tar -C unpacked --strip-components=1 -xf "fetched/usr/src/$source.tar.xz"
  mv unpacked kernel
}

configure() {
  cat > fragment <<'END'
CONFIG_64BIT=y
CONFIG_SMP=y
CONFIG_PREEMPT=y
CONFIG_MODULES=y
CONFIG_MODULE_UNLOAD=y
CONFIG_PRINTK=y
CONFIG_PRINTK_TIME=y
CONFIG_BUG=y
CONFIG_BLK_DEV_INITRD=y
CONFIG_RD_GZIP=y
CONFIG_BINFMT_ELF=y
CONFIG_BINFMT_SCRIPT=y
CONFIG_TTY=y
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y
CONFIG_ACPI=y
CONFIG_PCI=y
CONFIG_PCI_MSI=y
CONFIG_HIGH_RES_TIMERS=y
CONFIG_PROC_FS=y
CONFIG_SYSFS=y
CONFIG_DEVTMPFS=y
CONFIG_FUTEX=y
CONFIG_VIRTIO_MENU=y
CONFIG_VIRTIO_PCI=y
CONFIG_CRYPTO=y
CONFIG_CRYPTO_AES=y
CONFIG_CRYPTO_CBC=y
CONFIG_CRYPTO_GCM=y
CONFIG_CRYPTO_NULL=y
CONFIG_CRYPTO_SHA256=y
CONFIG_CRYPTO_HMAC=y
CONFIG_CRYPTO_AUTHENC=y
CONFIG_CRYPTO_CRYPTD=y
CONFIG_CRYPTO_AES_NI_INTEL=y
CONFIG_CRYPTO_SHA256_SSSE3=y
CONFIG_CRYPTO_HW=y
CONFIG_CRYPTO_DEV_VIRTIO=y
CONFIG_DEBUG_KERNEL=y
CONFIG_PROVE_LOCKING=y
CONFIG_DEBUG_ATOMIC_SLEEP=y
CONFIG_DEBUG_LIST=y
CONFIG_DEBUG_SG=y
CONFIG_DEBUG_NOTIFIERS=y
CONFIG_DETECT_HUNG_TASK=y
CONFIG_KASAN=y
CONFIG_KASAN_GENERIC=y
CONFIG_KASAN_OUTLINE=y
CONFIG_SLUB_DEBUG=y
END
  make -C kernel -s allnoconfig
  (cd kernel && scripts/kconfig/merge_config.sh -m .config ../fragment > ../merged 2>&1)
  make -C kernel -s olddefconfig
  for option in PROVE_LOCKING DEBUG_ATOMIC_SLEEP KASAN CRYPTO_DEV_VIRTIO CRYPTO_AES_NI_INTEL MODULE_UNLOAD SMP; do
    grep -q "^CONFIG_$option=y" kernel/.config || { say "the kernel has no $option"; exit 1; }
  done
}

# What runs in the guest, as its first process.
write_init() {
  cat > init <<END
#!/bin/sh
/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
insmod /cpb_runner.ko
echo "= random requests"
/random $((minutes * 30)) 1
echo "= random requests, and an accelerator that comes and goes"
end=\$(( \$(cut -d. -f1 /proc/uptime) + $((minutes * 30)) ))
device=\$(basename \$(dirname \$(ls -d /sys/bus/virtio/drivers/virtio_crypto/virtio* | head -1 | xargs readlink -f)))
echo "= the accelerator is \$device"
n=0
while [ \$(cut -d. -f1 /proc/uptime) -lt \$end ]; do
  n=\$((n + 1))
  /random 4 \$((n + 1)) & work=\$!
  sleep 2
  echo 1 > /sys/bus/pci/devices/\$device/remove & removal=\$!
  wait \$work
  rmmod cpb_runner || echo "= in use"
  wait \$removal
  echo 1 > /sys/bus/pci/rescan
  insmod /cpb_runner.ko || echo "= still loaded"
done
echo "= \$n times"
poweroff -f
END
}

pack() {
  gcc -O1 -static -s -I "$root/lab/kmod" -o random "$root/crates/cpb/tests/environments/lab/random_requests.c"
  rm -rf module && cp -r "$root/lab/kmod" module
  make -C kernel -s M="$work/module" W=1 modules
  write_init
  cat > files <<END
dir /bin 755 0 0
dir /dev 755 0 0
dir /proc 755 0 0
dir /sys 755 0 0
nod /dev/console 600 0 0 c 5 1
file /init init 755 0 0
file /busybox busybox 755 0 0
slink /bin/sh /busybox 777 0 0
file /random random 755 0 0
file /cpb_runner.ko module/cpb_runner.ko 644 0 0
END
  kernel/usr/gen_init_cpio files | gzip > initrd
}

boot() {
  say "booting; $minutes minutes of requests"
  timeout $((minutes * 60 + 900)) qemu-system-x86_64 -machine pc -accel tcg -cpu max -smp 1 -m 1024 -nographic -no-reboot \
    -nodefaults -serial stdio -kernel kernel/arch/x86/boot/bzImage -initrd initrd \
    -append "console=ttyS0 panic=-1 oops=panic quiet loglevel=5 rdinit=/init" \
    -object cryptodev-backend-builtin,id=engine -device virtio-crypto-pci,cryptodev=engine > console < /dev/null || true
}

judge() {
  warnings=$(grep -c -E 'WARNING|BUG|KASAN|INFO: (task|possible|trying)|Oops|UBSAN|suspicious' console || true)
  # The module is built for several kernels, so it asks for their version.
  style=$(cd "$root" && perl "$work/kernel/scripts/checkpatch.pl" --no-tree --terse --no-summary \
    --ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON -f lab/kmod/*.c lab/kmod/*.h || true)
  {
    echo "# The module, checked"
    echo
    echo "\`make kmod-check\`, $(date -u '+%Y-%m-%d %H:%M UTC'), Linux $(make -s -C kernel kernelversion) (Debian's $source) with lock"
    echo "proving, checks for sleeping in atomic context, and KASAN, emulated; $minutes minutes of requests."
    echo
    echo "- random requests: $(grep -m 1 ' requests, ' console || echo 'did not end')"
    echo "- with an accelerator that comes and goes, and the module loaded anew each time:" \
      "$(sed -n 's/^= \([0-9]* times\).*/\1/p' console), $(grep ' requests, ' console | awk 'NR > 1 {all += $1; good += $3} END {print all + 0 " requests, " good + 0 " good"}')"
    echo "- warnings of the kernel: $warnings"
    echo "- checkpatch: $([ -z "$style" ] && echo nothing || echo "$style")"
  } > "$root/lab/kmod/checked.md"
  cat "$root/lab/kmod/checked.md"
  grep -q '^= [0-9]* times' console || { say "the guest did not come to the end; its console is $work/console"; exit 1; }
  [ "$warnings" = 0 ] && [ -z "$style" ] || { say "see $work/console"; exit 1; }
}

install flex bison bc libelf-dev gcc make perl xz-utils qemu-system-x86
[ -f kernel/Makefile ] || fetch
[ -f kernel/vmlinux ] || { configure; say "building the kernel"; make -C kernel -s -j"$(nproc)" bzImage modules; }
pack
boot
judge
