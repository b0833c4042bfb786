use super::process::OwnProcess;
use super::*;
use cpb_record::Evidence;
use cpb_record::evidence::{emulated, evidence, known_emulated};
use std::fs;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines").join(name)
}

fn machine(name: &str) -> Machine {
    super::machine(&fixture(name), 0)
}

/// As `machine`, with what the process itself would find there.
fn lived_in(name: &str, own: OwnProcess) -> Machine {
    machine_with(&fixture(name), 0, own)
}

fn hypervisor(signature: &str) -> OwnProcess {
    OwnProcess {
        architecture: "x86_64".to_owned(),
        hypervisor: signature.to_owned(),
        ..OwnProcess::default()
    }
}

fn counter(counter_hz: u64) -> OwnProcess {
    OwnProcess { architecture: "aarch64".to_owned(), counter_hz, ..OwnProcess::default() }
}

/// A directory with the given files.
fn made_up(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (path, bytes) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("created");
        fs::write(path, bytes).expect("written");
    }
    directory
}

#[test]
fn a_kvm_guest_is_described_and_is_hardware() {
    let machine = lived_in("x86-kvm-guest", hypervisor("KVMKVMKVM"));
    assert_eq!(machine.name, "guest");
    assert_eq!(machine.cpu, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz");
    assert_eq!(machine.core, "family 6 model 106 stepping 6");
    assert_eq!(machine.microcode, "0xd0003f5");
    assert!(machine.features.iter().any(|feature| feature == "sha_ni"));
    assert_eq!(machine.cpus, 2);
    assert_eq!(machine.siblings, [1]);
    assert_eq!(machine.board, "QEMU Standard PC (Q35 + ICH9, 2009)");
    assert_eq!(machine.kernel, "Linux 6.12.9 #1 SMP PREEMPT_DYNAMIC");
    assert_eq!(machine.virtualisation, "KVM");
    assert_eq!(machine.state.steal, 171);
    assert_eq!(machine.state.load, 0.04);
    for clock_known in [true, false] {
        assert_eq!(evidence(&machine, clock_known), Evidence::Hardware);
    }
}

#[test]
fn a_quiet_machine_is_not_warned_about() {
    for (machine, cpu) in [
        (lived_in("x86-kvm-guest", hypervisor("KVMKVMKVM")), 0),
        (lived_in("raspberry-pi-4", counter(54_000_000)), 0),
        (machine("starfive"), 0),
    ] {
        assert_eq!(warnings(&machine, cpu), [""; 0]);
        assert_eq!(doubts(&machine, true), [""; 0]);
        assert_eq!(changes(&machine, &machine.state), [""; 0]);
    }
}

#[test]
fn a_laptop_in_use_is_warned_about_in_words_with_a_remedy() {
    let machine = machine("x86-laptop");
    assert_eq!(machine.board, "LENOVO 21CBCTO1WW");
    assert_eq!(machine.core, "family 6 model 154 stepping 3 performance core");
    assert_eq!(machine.state.frequency_khz, 1_200_000);
    assert_eq!(machine.state.frequency_limits_khz, (400_000, 4_700_000));
    assert_eq!(machine.state.throttled, 42);
    assert_eq!(machine.state.temperature_millicelsius, Some(97_000));
    assert_eq!(machine.state.temperature_limit_millicelsius, Some(100_000));
    assert_eq!(evidence(&machine, false), Evidence::Hardware);
    insta::assert_snapshot!(warnings(&machine, 0).join("\n"), @r#"
    The frequency of CPU 0 follows the governor "powersave", so the clock may change while measuring. Set it with `cpupower frequency-set -g performance`.
    The load is 3.20 on 4 CPUs, so other programs run at the same time. Stop them (see `top`) and run again; if some must run, take CPU 1 offline, the SMT sibling of CPU 0.
    The chip is at 97 °C, close to the 100 °C at which it slows down. Let it cool down, or improve its cooling.
    The machine runs on battery, which limits clocks. Plug it in.
    "#);
}

#[test]
fn a_hybrid_cpu_tells_the_core_that_is_measured() {
    let machine = super::machine(&fixture("x86-laptop"), 2);
    assert!(machine.core.ends_with("efficiency core"), "{}", machine.core);
    assert_eq!(machine.state.frequency_limits_khz.1, 3_400_000);
    assert!(machine.siblings.is_empty());
}

#[test]
fn boards_are_named_by_their_device_tree() {
    let pi = lived_in("raspberry-pi-4", counter(54_000_000));
    assert_eq!(pi.board, "Raspberry Pi 4 Model B Rev 1.4");
    assert_eq!((pi.cpu.as_str(), pi.core.as_str()), ("Cortex-A72 r0p3", "MIDR 0x410fd083"));
    assert_eq!(pi.state.throttled, 2, "under-voltage and throttling since boot");
    assert_eq!(pi.state.temperature_millicelsius, Some(52_095));
    assert_eq!(pi.virtualisation, "");

    let imx = machine("imx6");
    assert_eq!(imx.board, "Freescale i.MX6 Quad SABRE Smart Device Board");
    assert_eq!((imx.cpu.as_str(), imx.core.as_str()), ("Cortex-A9 r2p10", "MIDR 0x412fc09a"));
    assert_eq!(imx.kernel_architecture, "arm", "a kernel before 6.1 does not tell by itself");
    assert_eq!(imx.state.temperature_limit_millicelsius, Some(85_000));
    assert_eq!(warnings(&imx, 0).len(), 1, "ondemand");

    let starfive = machine("starfive");
    assert_eq!(starfive.cpu, "sifive,u74-mc");
    assert!(starfive.core.starts_with("mvendorid 0x489 marchid 0x8"), "{}", starfive.core);
    assert_eq!(starfive.features.first().map(String::as_str), Some("rv64imafdc"));
    assert!(starfive.features.iter().any(|feature| feature == "zbb"));
    assert_eq!(starfive.counter_hz, 4_000_000);

    for board in [pi, imx, starfive] {
        assert_eq!(evidence(&board, false), Evidence::Hardware, "{}", board.board);
    }
}

#[test]
fn emulated_machines_are_never_hardware() {
    let pi_card = {
        let mut pi = lived_in("raspberry-pi-4", counter(54_000_000));
        let root = made_up(&[("sys/bus/mmc/devices/mmc0:4567/name", b"QEMU!\n")]);
        pi.virtualisation = super::machine(root.path(), 0).virtualisation;
        pi
    };
    let sabrelite = Machine { core: "MIDR 0x410fc090".to_owned(), ..machine("imx6") };
    let named =
        |cpu: &str| Machine { cpu: cpu.to_owned(), ..lived_in("x86-laptop", hypervisor("")) };
    for (what, machine) in [
        ("-cpu max", machine("qemu-tcg-x86")),
        ("a signature", lived_in("x86-laptop", hypervisor("TCGTCGTCGTCG"))),
        ("FEX", lived_in("x86-laptop", hypervisor("FEXIFEXIEMU"))),
        ("a signature that is hidden", lived_in("x86-kvm-guest", hypervisor(""))),
        ("qemu64 without KVM", named("QEMU Virtual CPU version 2.5+")),
        ("Rosetta", named("VirtualApple @ 2.50GHz")),
        ("virt, before QEMU 9", lived_in("qemu-virt-aarch64", counter(62_500_000))),
        ("virt", lived_in("qemu-virt-aarch64", counter(1_000_000_000))),
        ("virt, no counter", machine("qemu-virt-aarch64")),
        ("riscv virt", machine("qemu-virt-riscv64")),
        ("raspi4b", lived_in("raspberry-pi-4", counter(62_500_000))),
        ("a modelled board's card", pi_card),
        ("sabrelite", sabrelite),
    ] {
        for clock_known in [true, false] {
            assert_eq!(evidence(&machine, clock_known), Evidence::Emulated, "{what}");
        }
        let doubts = doubts(&machine, true);
        assert_eq!(doubts.len(), 1, "{what}");
        assert!(doubts[0].starts_with("The CPU counts as emulated: "), "{}", doubts[0]);
    }
}

/// QEMU's AST2600 EVB as its kernel shows it: the core, the counter and the device tree are the same as on
/// the real board.
fn ast2600(serial: &str, card: &str, disk: &str) -> Machine {
    let cpuinfo = "processor\t: 0\nmodel name\t: ARMv7 Processor rev 5 (v7l)\nBogoMIPS\t: 2250.00\n\
        Features\t: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm\n\
        CPU implementer\t: 0x41\nCPU architecture: 7\nCPU variant\t: 0x0\nCPU part\t: 0xc07\n\
        CPU revision\t: 5\n\nHardware\t: Generic DT based system\n";
    let root = made_up(&[
        ("proc/cpuinfo", cpuinfo.as_bytes()),
        ("proc/sys/kernel/arch", b"armv7l\n"),
        ("sys/firmware/devicetree/base/model", b"AST2600 EVB\0"),
        ("sys/firmware/devicetree/base/compatible", b"aspeed,ast2600-evb-a1\0aspeed,ast2600\0"),
        ("sys/bus/soc/devices/soc0/serial_number", serial.as_bytes()),
        ("sys/bus/mmc/devices/mmc0:0001/name", card.as_bytes()),
        ("sys/block/sda/device/model", disk.as_bytes()),
    ]);
    super::machine(root.path(), 0)
}

#[test]
fn a_modelled_board_is_told_from_a_real_one_by_what_only_qemu_has() {
    let real = ast2600("70b90f1e4a63d4c8\n", "MMC08G\n", "CT240BX500SSD1\n");
    assert_eq!((real.board.as_str(), real.cpu.as_str()), ("AST2600 EVB", "Cortex-A7 r0p5"));
    assert_eq!(real.counter_hz, 1_125_000_000);
    for clock_known in [true, false] {
        assert_eq!(evidence(&real, clock_known), Evidence::Hardware);
    }
    let (serial, card, disk) = ("70b90f1e4a63d4c8\n", "MMC08G\n", "CT240BX500SSD1\n");
    for (what, modelled) in [
        ("the chip's serial number", ast2600("888844441234abcd\n", card, disk)),
        ("an SD card", ast2600(serial, "QEMU!\n", disk)),
        ("an eMMC", ast2600(serial, "QEMU!!\n", disk)),
        ("a disk", ast2600(serial, card, "QEMU HARDDISK\n")),
    ] {
        for clock_known in [true, false] {
            assert_eq!(evidence(&modelled, clock_known), Evidence::Emulated, "{what}");
        }
        assert!(emulated(&modelled).is_some(), "{what}");
    }
}

#[test]
fn a_disk_of_qemu_s_makes_no_accelerated_guest_emulated() {
    let guest = |compatible: &[u8]| {
        let root = made_up(&[
            ("sys/firmware/devicetree/base/compatible", compatible),
            ("sys/block/sda/device/vendor", b"QEMU    \n"),
        ]);
        let machine = machine_with(root.path(), 0, counter(54_000_000));
        Machine { core: "MIDR 0x410fd083".to_owned(), ..machine }
    };
    let accelerated = guest(b"linux,dummy-virt\0");
    assert_eq!(accelerated.virtualisation, "QEMU");
    assert_eq!(evidence(&accelerated, true), Evidence::Hardware);
    let board = guest(b"raspberrypi,4-model-b\0brcm,bcm2711\0");
    assert_eq!(evidence(&board, true), Evidence::Emulated, "QEMU accelerates no board");
}

#[test]
fn a_32_bit_core_whose_delays_show_qemu_s_counter_is_emulated() {
    let machine = |bogomips: &str, features: &str| {
        let cpuinfo = format!(
            "processor\t: 0\nBogoMIPS\t: {bogomips}\nFeatures\t: half thumb {features}\n\
             CPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xc07\nCPU revision\t: 5\n"
        );
        let arch: &[u8] = b"armv7l\n";
        let files = [("proc/cpuinfo", cpuinfo.as_bytes()), ("proc/sys/kernel/arch", arch)];
        super::machine(made_up(&files).path(), 0)
    };
    // i.MX6UL's model (mcimx6ul-evk), and a real one.
    let modelled = machine("125.00", "lpae evtstrm");
    assert_eq!((modelled.counter_hz, evidence(&modelled, true)), (62_500_000, Evidence::Emulated));
    let real = machine("16.00", "lpae evtstrm");
    assert_eq!((real.counter_hz, evidence(&real, true)), (8_000_000, Evidence::Hardware));
    // Delays use a loop here, so the number is the core's clock.
    let looping = machine("125.00", "");
    assert_eq!((looping.counter_hz, evidence(&looping, true)), (0, Evidence::Hardware));
    for odd in ["inf", "-1", "nan", "1e999", ""] {
        let machine = machine(odd, "evtstrm");
        assert_eq!(evidence(&machine, true), Evidence::Hardware, "{odd}");
    }
}

#[test]
fn what_the_host_knows_to_be_emulated_is_so_whatever_the_guest_sees() {
    let guest = lived_in("x86-kvm-guest", hypervisor("KVMKVMKVM"));
    assert_eq!(evidence(&guest, true), Evidence::Hardware);
    assert_eq!(evidence(&known_emulated(guest), true), Evidence::Emulated);
}

#[test]
fn programs_under_a_translator_are_emulated() {
    // qemu-user 7.2 passes the host's files through; newer versions replace only /proc/cpuinfo.
    for compiled_for in ["aarch64", "arm", "riscv64", "powerpc64"] {
        for host in ["x86-laptop", "x86-kvm-guest"] {
            let own = OwnProcess { architecture: compiled_for.to_owned(), ..OwnProcess::default() };
            assert_eq!(evidence(&lived_in(host, own), true), Evidence::Emulated, "{compiled_for}");
        }
    }
    assert_eq!(evidence(&lived_in("raspberry-pi-4", hypervisor("")), true), Evidence::Emulated);
    for (path, text) in [
        ("proc/sys/kernel/arch", "x86_64\n"),
        ("sys/devices/system/cpu/modalias", "cpu:type:x86,ven0002fam001Amod0002:feature:,0000\n"),
        (
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nflags\t: fpu\n",
        ),
        ("proc/cpuinfo", "processor\t: 0\nhart\t: 0\nisa\t: rv64gc\nuarch\t: qemu\n"),
        (
            "proc/cpuinfo",
            "processor\t: 0\nCPU implementer\t: 0x00\nCPU variant\t: 0x0\nCPU part\t: 0x051\nCPU revision\t: 0\n",
        ),
    ] {
        let root = made_up(&[(path, text.as_bytes())]);
        let machine = machine_with(root.path(), 0, counter(0));
        assert_eq!(evidence(&machine, true), Evidence::Emulated, "{text}");
    }
}

#[test]
fn programs_of_the_same_family_are_not_translated() {
    for (compiled_for, host) in
        [("x86", "x86-laptop"), ("arm", "raspberry-pi-4"), ("riscv32", "starfive")]
    {
        let own = OwnProcess { architecture: compiled_for.to_owned(), ..OwnProcess::default() };
        assert_eq!(evidence(&lived_in(host, own), false), Evidence::Hardware, "{compiled_for}");
    }
}

#[test]
fn an_arm_guest_is_hardware_if_its_counter_or_core_is_a_hosts_and_its_clock_is_known() {
    // A Raspberry Pi 4 and a Mac as hosts.
    let guest = lived_in("qemu-virt-aarch64", counter(54_000_000));
    assert_eq!(guest.virtualisation, "QEMU");
    assert_eq!(evidence(&guest, true), Evidence::Hardware);
    assert_eq!(evidence(&guest, false), Evidence::Emulated);
    let apple = Machine {
        core: "MIDR 0x610f0230".to_owned(),
        ..lived_in("qemu-virt-aarch64", counter(1_000_000_000))
    };
    assert_eq!(evidence(&apple, true), Evidence::Hardware);
    let root = made_up(&[
        ("sys/class/dmi/id/sys_vendor", b"QEMU\n"),
        ("sys/class/dmi/id/product_name", b"KVM Virtual Machine\n"),
    ]);
    let told = machine_with(root.path(), 0, counter(1_000_000_000));
    assert_eq!(told.virtualisation, "KVM");
    assert_eq!(evidence(&told, false), Evidence::Hardware);
}

#[test]
fn an_unknown_clock_is_told_with_a_remedy() {
    let guest = lived_in("x86-kvm-guest", hypervisor("KVMKVMKVM"));
    let doubts = [doubts(&guest, false), doubts(&machine("x86-laptop"), false)].concat();
    insta::assert_snapshot!(doubts.join("\n"), @r"
    The clock of the core could not be measured in this guest (KVM), so there are no cycles; times are not affected. Pin the guest's CPUs on the host, or measure on the host.
    The clock of the core could not be measured, so there are no cycles; times are not affected. Stop other programs, set a fixed frequency and run again.
    ");
}

#[test]
fn what_changed_while_measuring_is_told_with_a_remedy() {
    let laptop = machine("x86-laptop");
    let before = laptop.state.clone();
    let after = State {
        governor: "performance".to_owned(),
        frequency_limits_khz: (400_000, 2_100_000),
        throttled: before.throttled + 3,
        steal: before.steal + 25,
        busy: before.busy + 2_500,
        own: before.own + 2_000,
        elapsed: before.elapsed + 8_000,
        ..before.clone()
    };
    insta::assert_snapshot!(changes(&laptop, &after).join("\n"), @r#"
    The CPU was throttled 3 times during the run and is at 97 °C. Cool it or run with a lower fixed frequency, and measure again.
    Other programs used 25% of a CPU during the run. Stop them (see `top`) and measure again.
    The hypervisor took 250 ms from this machine's CPUs during the run. Measure when the host is idle, or dedicate CPUs to the guest.
    The frequency limits of the CPU changed during the run, from 400-4700 MHz to 400-2100 MHz. Find the cause (heat, a power daemon), stop it and measure again.
    The frequency governor changed during the run, from "powersave" to "performance". Stop the power daemon that changed it and measure again.
    "#);
    let cool =
        State { temperature_millicelsius: Some(50_000), on_battery: false, ..before.clone() };
    insta::assert_snapshot!(changes(&Machine { state: cool, ..laptop.clone() }, &before).join("\n"), @r"
    The chip is at 97 °C, close to the 100 °C at which it slows down. Let it cool down, or improve its cooling.
    The machine switched to battery during the run. Plug it in and measure again.
    ");
    // A counter that starts again from 0, or a little steal time, causes no warning.
    let reset = State { throttled: 0, steal: before.steal + 2, ..before.clone() };
    assert_eq!(changes(&laptop, &reset), [""; 0]);
}

#[test]
fn one_cpu_is_shared_and_said_to_be() {
    let machine = Machine { cpus: 1, ..machine("starfive") };
    assert!(
        warnings(&machine, 0)[0].starts_with("There is only one CPU"),
        "{:?}",
        warnings(&machine, 0)
    );
}

#[test]
fn nothing_at_all_gives_empty_fields() {
    let root = made_up(&[]);
    let machine = super::machine(root.path(), 3);
    assert_eq!(machine, Machine::default());
    assert_eq!(machine, super::machine(Path::new("/nonexistent"), usize::MAX));
}

#[test]
fn hostile_files_neither_panic_nor_make_a_record_unreadable() {
    let long = vec![b'9'; 10 << 20];
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let rubbish: [&[u8]; 8] = [
        &long,
        &binary,
        b"0-18446744073709551615,5-1,,-,0-99999999999999999999",
        b"nan inf -1 1e999",
        b"inf",
        b"-9223372036854775808",
        b"processor:\nCPU implementer: 0xffffffff\nCPU variant: 4294967295\nCPU part: 0x\n\n\n\n",
        b"\0\0\0\0",
    ];
    let paths = [
        "proc/cpuinfo",
        "proc/stat",
        "proc/loadavg",
        "proc/sys/kernel/hostname",
        "proc/sys/kernel/arch",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/modalias",
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
        "sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "sys/devices/platform/soc/soc:firmware/get_throttled",
        "sys/class/thermal/thermal_zone0/temp",
        "sys/class/thermal/thermal_zone0/trip_point_0_temp",
        "sys/firmware/devicetree/base/model",
        "sys/firmware/devicetree/base/cpus/timebase-frequency",
        "sys/class/dmi/id/product_name",
        "sys/class/power_supply",
    ];
    for content in rubbish {
        let root = made_up(&paths.map(|path| (path, content)));
        let machine = super::machine(root.path(), 0);
        warnings(&machine, 0);
        doubts(&machine, false);
        changes(&machine, &State::default());
        changes(&Machine::default(), &machine.state);
        assert!(machine.name.chars().count() <= files::LONGEST_VALUE);
        assert!(!machine.board.contains(char::is_control));
        let line = serde_json::to_string(&machine).expect("it can be written");
        assert!(line.len() < 1 << 20, "{}", line.len());
        let read: Machine = serde_json::from_str(&line).expect("and read again");
        assert_eq!(read, machine);
    }
}

#[test]
fn the_machine_that_runs_this_test_is_read() {
    let machine = super::machine(Path::new("/"), 0);
    assert_eq!(machine.architecture, std::env::consts::ARCH);
    assert!(machine.cpus > 0);
    assert!(!machine.kernel.is_empty());
    assert!(!machine.libc.is_empty());
}

/// (CPUs, core, highest clock in MHz) of each cluster.
fn clusters_of(name: &str) -> Vec<(Vec<usize>, String, u64)> {
    let told = |cluster: Cluster| {
        let highest = cluster.machine.state.frequency_limits_khz.1 / 1000;
        (cluster.cpus, cluster.machine.cpu, highest)
    };
    clusters(&fixture(name)).into_iter().map(told).collect()
}

#[test]
fn cpus_of_one_type_and_highest_clock_are_a_cluster() {
    assert_eq!(
        clusters_of("rock-5b"),
        [
            (vec![0, 1, 2, 3], "Cortex-A55 r2p0".to_owned(), 1800),
            (vec![4, 5, 6, 7], "Cortex-A76 r4p0".to_owned(), 2400),
        ]
    );
    assert_eq!(
        clusters_of("odroid-n2"),
        [
            (vec![0, 1], "Cortex-A53 r0p4".to_owned(), 1896),
            (vec![2, 3, 4, 5], "Cortex-A73 r0p2".to_owned(), 1800),
        ]
    );
    assert_eq!(
        clusters_of("raspberry-pi-4"),
        [(vec![0, 1, 2, 3], "Cortex-A72 r0p3".to_owned(), 1800)]
    );
    assert_eq!(clusters_of("x86-kvm-guest").len(), 1);
    assert_eq!(clusters_of("nowhere"), [(vec![0], String::new(), 0)]);
}

#[test]
fn what_is_surely_emulated_is_told_without_measuring() {
    for (name, sure) in [("qemu-virt-aarch64", true), ("rock-5b", false), ("raspberry-pi-4", false)]
    {
        assert_eq!(emulated(&machine(name)).is_some(), sure, "{name}");
    }
}
