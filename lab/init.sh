#!/bin/busybox sh
# The first program of a guest: mounts, modules, network, then cpb's agent. Everything it prints goes
# to the console, whose last lines the host shows when a guest does not come up.
#
# Parameters on the kernel's command line:
#   cpb.without=A,B  do not load these modules
#   cpb.shell        a shell on the console, for `cpb lab up`
#   cpb.engine=AT    the PCI device in slot 1 is an engine whose registers the device tree has at AT

PATH=/bin
export PATH
/bin/busybox mkdir -p /proc /sys /dev /tmp /root
/bin/busybox --install -s /bin

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
# Where the driver of an engine shows the engine's own counts.
mount -t debugfs debug /sys/kernel/debug
# The program with which the kernel loads modules; the default path does not exist here.
echo /bin/modprobe > /proc/sys/kernel/modprobe
hostname lab

without=
shell=
engine=
for word in $(cat /proc/cmdline); do
  case $word in
    cpb.without=*) without=,${word#cpb.without=}, ;;
    cpb.shell) shell=yes ;;
    cpb.engine=*) engine=${word#cpb.engine=} ;;
  esac
done
# Removed, so that the kernel cannot load them later either. A file name may have `-` instead of `_`.
for module in $(echo "$without" | tr , ' '); do
  find /lib/modules -name "$(echo "$module" | tr _ '?').ko" -exec rm {} +
done
# No PCI driver enables it, because Linux drives it as a device of the platform.
if [ -n "$engine" ]; then
  slot=/sys/bus/pci/devices/0000:00:01.0
  read -r at _ < $slot/resource
  if [ $((at)) -ne $((engine)) ]; then
    echo "lab: the engine's registers are at $at, and the device tree has them at $engine"
    poweroff -f
  fi
  echo 1 > $slot/enable
fi
while read -r module; do
  case $without in *,$module,*) continue ;; esac
  modprobe "$module" || echo "lab: module $module cannot be loaded"
done < /etc/modules
if [ -e /lib/modules/cpb_runner.ko ]; then
  insmod /lib/modules/cpb_runner.ko || echo "lab: cpb's own module cannot be loaded"
fi

ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up

cd /root
if [ -n "$shell" ]; then
  # A guest without its agent is of no use: when the agent ends, the guest powers off.
  (cpb agent; poweroff -f) &
  while :; do
    setsid cttyhack sh
    echo "lab: the guest ends with \`poweroff -f\` or the host's Ctrl-]"
  done
fi
cpb agent
poweroff -f
