//! `cargo xtask firmware [OPTION...] [BOARD...]`: builds images for boards into `firmware` in cargo's build
//! directory, usually target/firmware/.
//!
//! An image is named after its board, the optimisation of its C code, and the parts that are not in their usual
//! places: `imxrt1060-evk-O2-buffers-ocram-nc.elf`. For boards with flash there is also a `.bin`, which is to be
//! written to the flash's first address; `--encrypted` adds one that OTFAD decrypts.

use crate::tree;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Options with a value: the name of the option, the variable that the firmware's build script reads, and the default
/// value.
const OPTIONS: [(&str, &str, &str); 7] = [
    ("--opt", "CPB_FIRMWARE_OPT", "O2"),
    ("--code", "CPB_FIRMWARE_CODE", "itcm"),
    ("--tables", "CPB_FIRMWARE_TABLES", "dtcm"),
    ("--stack", "CPB_FIRMWARE_STACK", "dtcm"),
    ("--buffers", "CPB_FIRMWARE_BUFFERS", "dtcm"),
    ("--flash-clock", "CPB_FIRMWARE_FLASH_CLOCK", "100"),
    ("--baud", "CPB_FIRMWARE_BAUD", "115200"),
];

/// Builds the image that measures a fixed list without a host.
const SOLO: &str = "--solo";

/// Also writes the image as OTFAD reads it. The value is a folder with the files in [`SECRETS`].
const ENCRYPTED: &str = "--encrypted";

/// The option of `cpb otfad encrypt` that a file in the folder is for, the file, and the digits that it has.
const SECRETS: [(&str, &str, u32); 3] =
    [("--kek", "kek", 32), ("--key", "key", 32), ("--counter", "counter", 16)];

/// The board whose chip decrypts its flash, and all of an image but what its boot ROM reads first.
const WITH_OTFAD: (&str, &str) = ("imxrt1170-evk", "0x30001000..0x30100000");

/// The folder with the images; tests find it through `CPB_FIRMWARE_IMAGES`.
pub(crate) fn images() -> PathBuf {
    tree::target_directory().join("firmware")
}

/// The images that tests need besides those of every board: those that measure without a host, also with messages
/// behind the bus, two whose engine shares cached memory with the core, one whose library runs in flash, and two in
/// which every part is in another place.
const FOR_TESTS: [&str; 7] = [
    "--solo",
    "--solo --buffers ocram-nc imxrt1170-evk",
    "--stack ocram --buffers ocram imxrt1060-evk",
    "--stack ocram --buffers ocram imxrt1170-evk",
    "--code flash imxrt1170-evk",
    "--solo --opt Os --code flash --tables ocram --stack ocram-nc --buffers ocram mps2-an500",
    "--solo --opt Os --code flash --tables ocram --stack ocram --buffers ocram imxrt1170-evk",
];

/// Builds the images that tests need.
pub(crate) fn build_all() -> Result<(), String> {
    run(&[])?;
    FOR_TESTS.iter().try_for_each(|line| {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        run(&arguments)
    })
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let known = boards();
    let (mut values, mut chosen, mut solo) = (OPTIONS.map(|(.., usual)| usual), Vec::new(), false);
    let mut secrets = None;
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        if let Some(place) = OPTIONS.iter().position(|(name, ..)| *name == argument) {
            values[place] = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        } else if argument == SOLO {
            solo = true;
        } else if argument == ENCRYPTED {
            let folder = arguments.next().ok_or("--encrypted needs a folder with the keys")?;
            secrets = Some(Secrets::of(Path::new(folder))?);
        } else if known.iter().any(|board| board == argument) {
            chosen.push(argument.to_owned());
        } else {
            let options: Vec<&str> = OPTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(format!(
                "`{argument}` is neither a board ({}) nor an option ({}, {SOLO}, {ENCRYPTED})",
                known.join(", "),
                options.join(", ")
            ));
        }
    }
    let boards = if chosen.is_empty() { known } else { chosen };
    if let Some(board) = boards.iter().find(|board| secrets.is_some() && *board != WITH_OTFAD.0) {
        return Err(format!("{ENCRYPTED}: {board} has no OTFAD; only {} has", WITH_OTFAD.0));
    }
    for board in boards {
        let began = Instant::now();
        let image = build(&board, &values, solo)?;
        println!("{} in {:.0} s", image.display(), began.elapsed().as_secs_f64());
        if let Some(secrets) = &secrets {
            println!("{}", secrets.encrypt(&image)?.display());
        }
    }
    Ok(())
}

/// The folders in firmware/boards.
pub(crate) fn boards() -> Vec<String> {
    let folders = tree::entries(&tree::root().join("firmware/boards"));
    folders.iter().filter(|path| path.is_dir()).map(|path| tree::stem(path)).collect()
}

fn build(board: &str, values: &[&str; OPTIONS.len()], solo: bool) -> Result<PathBuf, String> {
    let mut name = format!("{board}-{}", values[0]);
    for ((option, _, usual), value) in OPTIONS.iter().zip(values).skip(1) {
        if value != usual {
            name += &format!("-{}-{value}", option.trim_start_matches('-'));
        }
    }
    if solo {
        name += "-solo";
    }
    let target = tree::target_directory().join("firmware-build");
    let features = if solo { format!("{board},solo") } else { board.to_owned() };
    let mut command = Command::new("cargo");
    command
        .args(["build", "--locked", "--release", "--no-default-features", "--features", &features])
        .arg("--target-dir")
        .arg(&target)
        // The folder's own configuration sets the target.
        .current_dir(tree::root().join("firmware"));
    for ((_, variable, _), value) in OPTIONS.iter().zip(values) {
        command.env(variable, value);
    }
    succeed(&mut command)?;

    let folder = images();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let image = folder.join(format!("{name}.elf"));
    let built = target.join("thumbv7em-none-eabihf/release/cpb-firmware");
    fs::copy(&built, &image).map_err(|error| format!("{}: {error}", image.display()))?;
    if board.starts_with("imxrt") {
        flash_image(&image)?;
    }
    Ok(image)
}

/// The contents of the flash, from its first address on.
fn flash_image(image: &Path) -> Result<(), String> {
    let binary = image.with_extension("bin");
    succeed(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(image).arg(binary))
}

/// The files that an image is encrypted with.
struct Secrets([PathBuf; SECRETS.len()]);

impl Secrets {
    fn of(folder: &Path) -> Result<Secrets, String> {
        let files = SECRETS.map(|(_, name, _)| folder.join(name));
        for (file, (.., digits)) in files.iter().zip(SECRETS) {
            if !file.is_file() {
                return Err(format!(
                    "{ENCRYPTED}: there is no {}; it has {digits} hexadecimal digits, such as \
                     `openssl rand -hex {}` prints",
                    file.display(),
                    digits / 2
                ));
            }
        }
        Ok(Secrets(files.map(|file| std::path::absolute(&file).unwrap_or(file))))
    }

    /// Writes the encrypted image beside the other, by this source's own `cpb otfad encrypt`.
    fn encrypt(&self, image: &Path) -> Result<PathBuf, String> {
        let encrypted = image.with_extension("").into_os_string();
        let encrypted =
            PathBuf::from(encrypted.into_string().unwrap_or_default() + "-encrypted.bin");
        // The command writes no file that exists.
        _ = fs::remove_file(&encrypted);
        let mut command = Command::new("cargo");
        command
            .args(["run", "--quiet", "--locked", "--release", "--package", "cpb", "--"])
            .args(["otfad", "encrypt"])
            .arg(image)
            .args(["--region", WITH_OTFAD.1, "-o"])
            .arg(&encrypted)
            .current_dir(tree::root());
        for ((option, ..), file) in SECRETS.iter().zip(&self.0) {
            command.arg(option).arg(file);
        }
        succeed(&mut command)?;
        Ok(encrypted)
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
