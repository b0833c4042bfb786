"""Describes the machine and its load, and generates load."""

import contextlib
import os
import pathlib
import platform
import resource
import subprocess
import sys
import time


def cpus():
    """The CPUs this process may use."""
    return sorted(os.sched_getaffinity(0))


def measuring_cpu():
    """The CPU that `cpb run` measures on unless told otherwise: the last one allowed."""
    return cpus()[-1]


def cpu_model(cpuinfo):
    """The CPU's name in the text of /proc/cpuinfo, for any architecture."""
    for key in ("model name", "Hardware", "uarch", "CPU part"):
        for line in cpuinfo.splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return platform.machine()


def busy_ticks(stat):
    """Ticks that all CPUs were busy, and ticks stolen from them, in the text of /proc/stat."""
    fields = [int(field) for field in stat.splitlines()[0].split()[1:]]
    user, nice, system, _idle, _wait, interrupt, soft, steal = fields[:8]
    return user + nice + system + interrupt + soft, steal


def _own_seconds():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class Watch:
    """Tracks how busy other programs keep the machine, from its creation on."""

    def __init__(self):
        self.began = time.time()
        self.load = os.getloadavg()
        self.start = self._reading()

    def _reading(self):
        busy, steal = busy_ticks(pathlib.Path("/proc/stat").read_text())
        tick = 1 / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy * tick, steal * tick, _own_seconds()

    def words(self):
        """A description of the machine and of how busy others kept it. Child processes must have ended before."""
        now, busy, steal, own = (b - a for a, b in zip(self.start, self._reading(), strict=True))
        count = os.cpu_count()
        others = max(0.0, busy - own) / (now * count)
        load = ", ".join(f"{value:.2f}" for value in self.load)
        model = cpu_model(pathlib.Path("/proc/cpuinfo").read_text())
        date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.began))
        return (
            f"{model}, {count} CPUs, {platform.machine()}, Linux {platform.release()}; {date}; load "
            f"average before: {load}; while this ran other programs took {others:.0%} of all CPUs, "
            f"a hypervisor {steal / (now * count):.1%}"
        )


HOG = """
import os
os.sched_setaffinity(0, {{{cpu}}})
while os.getppid() == {parent}:
    for _ in range(1_000_000):
        pass
"""


@contextlib.contextmanager
def hogs():
    """Runs a program on each CPU that never sleeps."""
    script = [HOG.format(cpu=cpu, parent=os.getpid()) for cpu in cpus()]
    all_of_them = [subprocess.Popen([sys.executable, "-c", text]) for text in script]
    try:
        time.sleep(1)
        yield
    finally:
        for one in all_of_them:
            one.kill()
            one.wait()
