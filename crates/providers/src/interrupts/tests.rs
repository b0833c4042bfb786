//! Machines of the kinds that have engines, as trees of the files in which the kernel describes them.

use super::*;
use crate::kernel_crypto::{self, Driver};
use cpb_core::Claim;
use proptest::prelude::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct Machine(TempDir);

impl Machine {
    fn new(crypto: &str, interrupts: &str) -> Machine {
        let machine = Machine(tempfile::tempdir().expect("a folder"));
        machine.file("proc/crypto", crypto);
        machine.file("proc/interrupts", interrupts);
        machine
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    fn link(&self, path: &str, target: &str) {
        let (path, target) = (self.root().join(path), self.root().join(target));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::create_dir_all(&target).expect("a folder");
        symlink(target, path).expect("a link");
    }

    /// Adds a device driver of `module` (`None` if built in) on a bus, and the devices bound to it.
    fn driver(&self, module: Option<&str>, bus: &str, name: &str, devices: &[impl AsRef<str>]) {
        let driver = format!("sys/bus/{bus}/drivers/{name}");
        self.file(&format!("{driver}/bind"), "");
        if let Some(module) = module {
            self.link(&format!("sys/module/{module}/drivers/{bus}:{name}"), &driver);
            self.link(&format!("{driver}/module"), &format!("sys/module/{module}"));
        }
        for device in devices {
            let device = device.as_ref();
            let name = device.rsplit('/').next().expect("a name");
            self.link(&format!("{driver}/{name}"), &format!("sys/devices/{device}"));
        }
    }

    fn lines(&self, driver: &str) -> Option<(Vec<String>, u64)> {
        let lines = lines_of(self.root(), driver)?;
        Some((lines.ids().to_vec(), lines.count().expect("it was readable")))
    }
}

/// The lines of the crypto driver called `driver`, with the machine as it is now.
fn lines_of(root: &Path, driver: &str) -> Option<Lines> {
    let wiring = Wiring::read(root);
    wiring.lines_of(wiring.drivers().iter().find(|known| known.driver == driver)?)
}

fn entry(name: &str, driver: &str, module: &str) -> String {
    format!(
        "name         : {name}\ndriver       : {driver}\nmodule       : {module}\n\
         priority     : 300\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n\
         type         : skcipher\nasync        : yes\n\n"
    )
}

/// As QEMU's x86 guests present it.
fn virtio() -> Machine {
    let crypto = entry("cbc(aes)", "virtio_crypto_aes_cbc", "virtio_crypto")
        + &entry("cbc(aes)", "cbc-aes-aesni", "aesni_intel");
    let machine = Machine::new(
        &crypto,
        "           CPU0       CPU1       \n\
         \x20 0:         33          0   IO-APIC   2-edge      timer\n\
         \x20 8:          0          1   IO-APIC   8-edge      rtc0\n\
         \x20 9:          0          0   IO-APIC   9-fasteoi   acpi\n\
         \x2024:          0          0   PCI-MSI 49152-edge      virtio2-config\n\
         \x2025:       1000        403   PCI-MSI 49153-edge      virtio2-virtqueues\n\
         \x2026:          7          0   PCI-MSI 65536-edge      virtio20-virtqueues\n\
         NMI:          0          0   Non-maskable interrupts\n\
         ERR:          0\n",
    );
    machine.driver(
        Some("virtio_crypto"),
        "virtio",
        "virtio_crypto",
        &["pci0000:00/0000:00:03.0/virtio2"],
    );
    machine.file("sys/module/aesni_intel/refcnt", "0\n");
    machine
}

#[test]
fn a_virtio_devices_lines_are_those_with_its_name() {
    let machine = virtio();
    let found = machine.lines("virtio_crypto_aes_cbc");
    assert_eq!(found, Some((vec!["24".into(), "25".into()], 1403)));
    assert_eq!(machine.lines("cbc-aes-aesni"), None, "software has no device");
    assert_eq!(machine.lines("nonsense"), None);
}

#[test]
fn while_software_works_the_lines_of_every_engine_are_watched() {
    let machine = virtio();
    let ids = |lines: Option<Lines>| lines.map(|lines| lines.ids().to_vec());
    let watched = |driver: &str| ids(Wiring::current(machine.root()).to_watch(driver));
    let engine = Some(vec!["24".to_owned(), "25".to_owned()]);
    assert_eq!(watched("virtio_crypto_aes_cbc"), engine);
    assert_eq!(watched("cbc-aes-aesni"), engine);
    // The same holds for work that no engine here can do, and for providers outside the kernel.
    let hash = entry("sha256", "sha256-generic", "kernel").replace("async        : yes\n", "");
    let crypto = fs::read_to_string(machine.root().join("proc/crypto")).expect("a file") + &hash;
    machine.file("proc/crypto", crypto);
    assert_eq!(watched("sha256-generic"), engine);
    assert_eq!(ids(Wiring::current(machine.root()).of_engines()), engine);
    let without = Machine::new(&hash, "  CPU0\n 25: 2000 PCI-MSI 49153-edge virtio2-virtqueues\n");
    assert_eq!(Wiring::read(without.root()).of_engines(), None);
}

#[test]
fn a_template_has_the_devices_of_the_drivers_that_it_is_made_of() {
    let machine = virtio();
    let listed = fs::read_to_string(machine.root().join("proc/crypto")).expect("a file");
    let template = "authenc(hmac(sha1-generic),virtio_crypto_aes_cbc)";
    let software = "authenc(hmac(sha1-generic),cbc-aes-aesni)";
    let more =
        [template, software].map(|name| entry("authenc(hmac(sha1),cbc(aes))", name, "authenc"));
    machine.file("proc/crypto", listed + &more.concat());
    let engine = machine.lines("virtio_crypto_aes_cbc");
    assert!(engine.is_some());
    assert_eq!(machine.lines(template), engine);
    assert_eq!(machine.lines(software), None);
}

#[test]
fn a_count_is_read_anew_each_time() {
    let machine = virtio();
    let lines = lines_of(machine.root(), "virtio_crypto_aes_cbc").expect("lines");
    assert_eq!(lines.count(), Some(1403));
    machine.file("proc/interrupts", "  CPU0\n 25: 2000 PCI-MSI 49153-edge virtio2-virtqueues\n");
    assert_eq!(lines.count(), Some(2000));
    fs::remove_file(machine.root().join("proc/interrupts")).expect("a file");
    assert_eq!(lines.count(), None);
}

/// An i.MX6 with CAAM's two job rings, as the kernel of NXP's Linux presents them: the label is the device's
/// name.
fn caam(module: &str) -> Machine {
    let machine = Machine::new(
        &entry("cbc(aes)", "cbc-aes-caam", module),
        "           CPU0       CPU1       CPU2       CPU3       \n\
         \x2029:       5000       4000       4000       4000       GIC  29  twd\n\
         310:         12          0          0          0       GIC 137 Level     2101000.jr0\n\
         311:    2168629          0          0          0       GIC 138 Level     2102000.jr1\n\
         312:          9          0          0          0       GIC 139 Level     2102000.jr10\n",
    );
    let module = (module != "kernel").then_some(module);
    machine.driver(module, "platform", "caam_jr", &["soc/2101000.jr0", "soc/2102000.jr1"]);
    machine.driver(module.map(|_| "caam"), "platform", "caam", &["soc/2100000.caam"]);
    machine.driver(None, "platform", "imx-uart", &["soc/2020000.serial"]);
    machine
}

#[test]
fn both_job_rings_of_a_caam_count() {
    let rings = Some((vec!["310".into(), "311".into()], 2_168_641));
    assert_eq!(caam("caam_jr").lines("cbc-aes-caam"), rings);
}

#[test]
fn a_driver_that_is_built_in_is_found_by_its_own_words() {
    let rings = Some((vec!["310".into(), "311".into()], 2_168_641));
    assert_eq!(caam("kernel").lines("cbc-aes-caam"), rings);
    // Words of the algorithm and generic words of software lead to no device.
    let machine = Machine::new(
        &(entry("cbc(aes)", "cbc(aes-generic)", "kernel")
            + &entry("cbc(aes)", "cbc-aes-ce", "kernel")),
        "  CPU0\n 40:  5  GIC 72 Level aes\n",
    );
    machine.driver(None, "platform", "aes-generic", &["soc/aes"]);
    machine.driver(None, "platform", "ce", &["soc/ce"]);
    assert_eq!(machine.lines("cbc(aes-generic)"), None);
    assert_eq!(machine.lines("cbc-aes-ce"), None);
}

/// Encodes a device tree's numbers.
fn cells(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// mxs-dcp requests its lines under names other than its device's, so only the device tree leads to them.
fn dcp(interrupts: &str, cells_each: u32, specifiers: &[u32]) -> Machine {
    let machine = Machine::new(&entry("cbc(aes)", "cbc-aes-dcp", "mxs_dcp"), interrupts);
    machine.driver(Some("mxs_dcp"), "platform", "mxs-dcp", &["soc/2280000.dcp"]);
    let tree = "sys/firmware/devicetree/base";
    machine.file(&format!("{tree}/interrupt-controller@a01000/phandle"), cells(&[1]));
    machine.file(
        &format!("{tree}/interrupt-controller@a01000/#interrupt-cells"),
        cells(&[cells_each]),
    );
    machine.file(&format!("{tree}/soc/interrupt-parent"), cells(&[1]));
    machine.file(&format!("{tree}/soc/dcp@2280000/interrupts"), cells(specifiers));
    machine.link("sys/devices/soc/2280000.dcp/of_node", &format!("{tree}/soc/dcp@2280000"));
    machine
}

#[test]
fn a_dcps_lines_are_found_by_their_numbers_in_the_device_tree() {
    // i.MX6ULL: three shared interrupts behind the GPC, whose numbers have no offset.
    let gpc = "           CPU0       \n\
         \x2014:         46       GPC  14 Level     2094000.kpp\n\
         \x2046:        100       GPC  46 Level     dcp-vmi-irq\n\
         \x2047:       4200       GPC  47 Level     dcp-irq\n\
         \x2048:         33  gpio-mxc  46 Edge      2190000.mmc cd\n\
         \x2049:         78       GIC  46 Level     2000000.gpu\n";
    let shared = [0, 46, 4, 0, 47, 4, 0, 48, 4];
    let found = dcp(gpc, 3, &shared).lines("cbc-aes-dcp");
    assert_eq!(found, Some((vec!["46".into(), "47".into()], 4300)));
    // The same behind a GIC alone, which counts them from 32.
    let gic = "           CPU0       \n\
         \x2030:          9     GIC-0  46 Level     timer\n\
         \x2031:        100     GIC-0  78 Level     dcp-vmi-irq\n\
         \x2032:       4200     GIC-0  79 Level     dcp-irq\n";
    let found = dcp(gic, 3, &shared).lines("cbc-aes-dcp");
    assert_eq!(found, Some((vec!["31".into(), "32".into()], 4300)));
    // i.MX28: a controller with one cell.
    let icoll = "           CPU0       \n\
         168:        100         -  52 Level     dcp-vmi-irq\n\
         169:       4200         -  53 Level     dcp-irq\n\
         170:          1         -  54 Level     other\n";
    let found = dcp(icoll, 1, &[52, 53]).lines("cbc-aes-dcp");
    assert_eq!(found, Some((vec!["168".into(), "169".into()], 4300)));
}

#[test]
fn a_pci_device_is_found_by_the_numbers_it_lists() {
    let crypto = entry("cbc(aes)", "qat_aes_cbc", "qat_c3xxx");
    let interrupts = "  CPU0\n 40: 11 PCI-MSI 1-edge qat0-bundle0\n 41: 22 PCI-MSI 2-edge qat0-ae\n \
        42: 44 IO-APIC 16-fasteoi qat0\n";
    let device = "pci0000:00/0000:01:00.0";
    let machine = Machine::new(&crypto, interrupts);
    machine.driver(Some("qat_c3xxx"), "pci", "c3xxx", &[device]);
    machine.file(&format!("sys/devices/{device}/irq"), "42\n");
    assert_eq!(machine.lines("qat_aes_cbc"), Some((vec!["42".into()], 44)));
    machine.file(&format!("sys/devices/{device}/msi_irqs/40"), "msix\n");
    machine.file(&format!("sys/devices/{device}/msi_irqs/41"), "msix\n");
    assert_eq!(machine.lines("qat_aes_cbc"), Some((vec!["40".into(), "41".into()], 33)));
}

#[test]
fn a_polled_engine_has_a_device_and_no_lines() {
    let crypto = entry("sha256", "aspeed-sha256", "aspeed_crypto");
    let machine = Machine::new(&crypto, "  CPU0\n 40: 11 GIC 72 Level other\n");
    machine.driver(Some("aspeed_crypto"), "platform", "aspeed-hace", &["soc/1e6d0000.crypto"]);
    assert_eq!(machine.lines("aspeed-sha256"), None);
    let wiring = Wiring::read(machine.root());
    assert_eq!(wiring.devices(&wiring.drivers()[0]).len(), 1);
}

#[test]
fn a_driver_that_the_kernel_prefers_and_does_not_take_makes_the_other_one_a_fallback() {
    let listed = |machine: &Machine, name: &str| {
        let listed = kernel_crypto::drivers(machine.root());
        listed.into_iter().find(|driver| driver.driver == name).expect("listed")
    };
    let machine = virtio();
    let software = listed(&machine, "cbc-aes-aesni");
    let wiring = Wiring::read(machine.root());
    assert_eq!(wiring.claim(&listed(&machine, "virtio_crypto_aes_cbc"), true), Claim::Engine);
    assert_eq!(wiring.claim(&software, true), Claim::Kernel, "equal priorities");
    let lower = Driver { priority: 100, ..software };
    assert_eq!(wiring.claim(&lower, true), Claim::Fallback);
    assert_eq!(wiring.claim(&lower, false), Claim::Kernel, "it was named");
}

/// A board like an i.MX6 with a built-in CAAM: 60 crypto drivers of four job rings, 100 interrupt lines, 1,000
/// nodes, and an interrupt controller that is the last of the nodes.
fn large_board(drivers: usize, nodes: u32, lines: usize) -> Machine {
    let crypto: String = (0..drivers)
        .map(|one| entry(&format!("mode{one}(aes)"), &format!("mode{one}-aes-caam"), "kernel"))
        .collect();
    let mut interrupts = "           CPU0\n".to_owned();
    for line in 0..lines {
        // The labels are not the devices' names, so only the device tree leads to the lines.
        interrupts +=
            &format!("{line:4}: {line:9}     GIC-0 {:3} Level     line{line}\n", line + 32);
    }
    let machine = Machine::new(&crypto, &interrupts);
    let rings = ["2101000.jr", "2102000.jr", "2103000.jr", "2104000.jr"];
    machine.driver(None, "platform", "caam_jr", &rings.map(|ring| format!("soc/{ring}")));
    for bus in ["amba", "i2c", "mdio_bus", "mmc", "spi", "usb"] {
        machine.driver(None, bus, &format!("{bus}-driver"), &[] as &[&str]);
    }
    let tree = "sys/firmware/devicetree/base";
    machine.file(&format!("{tree}/interrupt-parent"), cells(&[nodes]));
    for node in 1..=nodes {
        let folder = format!("{tree}/bus@{:02}/device@{node:04}", node / 32);
        for property in ["compatible", "reg", "status"] {
            machine.file(&format!("{folder}/{property}"), "okay\0");
        }
        machine.file(&format!("{folder}/phandle"), cells(&[node]));
        if node == nodes {
            machine.file(&format!("{folder}/#interrupt-cells"), cells(&[3]));
        }
    }
    for (number, ring) in rings.into_iter().enumerate() {
        let node = format!("{tree}/caam/{ring}");
        machine.file(&format!("{node}/interrupts"), cells(&[0, 10 + number as u32, 4]));
        machine.link(&format!("sys/devices/soc/{ring}/of_node"), &node);
    }
    machine
}

#[test]
fn a_device_tree_is_read_once_for_all_drivers_and_lines() {
    const DRIVERS: usize = 60;
    const NODES: u32 = 1000;
    let machine = large_board(DRIVERS, NODES, 100);
    let before = files::so_far();
    let wiring = Wiring::read(machine.root());
    for driver in wiring.drivers() {
        let lines = wiring.lines_of(driver).expect("it has an engine");
        assert_eq!(lines.ids(), ["10", "11", "12", "13"]);
        assert_eq!(wiring.claim(driver, true), Claim::Engine);
        assert_eq!(wiring.to_watch(&driver.driver), Some(lines.clone()));
        assert_eq!(wiring.of_engines(), Some(lines));
    }
    let accesses = files::so_far() - before;
    // Two accesses for each node: its list of entries, and its phandle. The rest is for buses in between and
    // for the rest of the machine.
    let most = 2 * NODES as usize + 200;
    assert!(accesses <= most, "{accesses} files and folders were read, at most {most}");
    assert!(accesses > NODES as usize, "the controller is the last node: {accesses}");
    let again = files::so_far();
    assert!(wiring.drivers().iter().all(|driver| wiring.lines_of(driver).is_some()));
    assert_eq!(files::so_far(), again, "everything is known");
}

/// A process that opens several providers in turn reads the tree once, and notices a module that was loaded
/// meanwhile.
#[test]
fn what_was_read_is_kept_until_the_kernel_lists_something_else() {
    let machine = dcp("  CPU0\n 46: 100 GPC 46 Level dcp-irq\n", 3, &[0, 46, 4]);
    let first = Wiring::current(machine.root());
    machine.file("proc/interrupts", "  CPU0\n 46: 200 GPC 46 Level dcp-irq\n");
    let used = fs::read_to_string(machine.root().join("proc/crypto")).expect("a file");
    machine.file("proc/crypto", used.replace("refcnt       : 1", "refcnt       : 2"));
    let same = Wiring::current(machine.root());
    // Another test's machine may have replaced the kept one. The answers stay the same.
    assert_eq!(first.drivers()[0].references, 1);
    assert_eq!(same.of_engines(), first.of_engines());
    machine
        .file("proc/crypto", used + &entry("cbc(aes)", "virtio_crypto_aes_cbc", "virtio_crypto"));
    assert_eq!(Wiring::current(machine.root()).drivers().len(), 2);
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic_and_counts_are_kept(
        counts in proptest::collection::vec(any::<u32>(), 1..9),
        label in "[a-z0-9.-]{1,20}",
        noise in ".{0,200}",
    ) {
        let cpus: Vec<String> = (0..counts.len()).map(|cpu| format!("CPU{cpu}")).collect();
        let columns: Vec<String> = counts.iter().map(u32::to_string).collect();
        let text = format!(
            "   {}\n 77: {}   GIC 99 Level     {label}\n{noise}\n", cpus.join(" "), columns.join(" ")
        );
        let lines = parse(&text);
        prop_assert_eq!(&lines[0].id, "77");
        prop_assert_eq!(lines[0].total, counts.iter().map(|count| u64::from(*count)).sum::<u64>());
        prop_assert_eq!(lines[0].words.last(), Some(&label));
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "(?s).{0,300}") {
        let _ = parse(&text);
    }
}
