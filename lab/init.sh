#!/bin/busybox sh
# The first program of a guest: mounts, modules, network, then cpb's agent. Everything it prints goes
# to the console, whose last lines the host shows when a guest does not come up.
#
# Parameters on the kernel's command line:
#   cpb.without=A,B  do not load these modules
#   cpb.shell        a shell on the console, for `cpb lab up`

PATH=/bin
export PATH
/bin/busybox mkdir -p /proc /sys /dev /tmp /root
/bin/busybox --install -s /bin

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
# The program with which the kernel loads modules; the default path does not exist here.
echo /bin/modprobe > /proc/sys/kernel/modprobe
hostname lab

without=
shell=
for word in $(cat /proc/cmdline); do
  case $word in
    cpb.without=*) without=,${word#cpb.without=}, ;;
    cpb.shell) shell=yes ;;
  esac
done
# Removed, so that the kernel cannot load them later either. A file name may have `-` instead of `_`.
for module in $(echo "$without" | tr , ' '); do
  find /lib/modules -name "$(echo "$module" | tr _ '?').ko" -exec rm {} +
done
while read -r module; do
  case $without in *,$module,*) continue ;; esac
  modprobe "$module" || echo "lab: module $module cannot be loaded"
done < /etc/modules

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
