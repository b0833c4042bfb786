//! Debian's packages, fetched and verified by apt in a folder of the user: nothing is installed, and no root
//! is needed.

use super::tools;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The keys of Debian, from the package debian-archive-keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Which packages.
pub(super) struct Origin<'o> {
    /// Debian's name for their architecture.
    pub(super) architecture: &'o str,
    /// The suites that they are in.
    pub(super) suites: &'o [String],
}

/// A package with all that it needs.
#[derive(Debug, PartialEq)]
pub(super) struct Closure {
    /// `NAME=VERSION` of each.
    pub(super) packages: Vec<String>,
    /// What is downloaded.
    pub(super) bytes: u64,
}

/// A private apt configuration.
pub(super) struct Apt {
    folder: PathBuf,
    architecture: String,
}

impl Apt {
    /// Creates one in `folder`, and fetches the package lists.
    pub(super) fn update(folder: &Path, origin: &Origin<'_>) -> Result<Apt> {
        tools::find("apt-get", "apt")?;
        let apt = Apt { folder: folder.to_owned(), architecture: origin.architecture.to_owned() };
        for below in ["lists/partial", "cache/archives/partial", "debs", "preferences"] {
            let path = folder.join(below);
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        fs::write(folder.join("status"), "")?;
        fs::write(folder.join("lab.sources"), sources(origin)?)?;
        tools::run(apt.command("apt-get").args(["-o", "APT::Update::Error-Mode=any", "update"]))
            .context("cannot fetch Debian's package lists")?;
        Ok(apt)
    }

    /// The packages that hold the kernel and its modules: what a metapackage stands for.
    pub(super) fn kernel(&self, package: &str) -> Result<Vec<String>> {
        self.with_parts(package, &["linux-image-", "linux-binary-", "linux-modules-"])
    }

    /// The packages that hold what modules are built with for the kernel of these packages.
    pub(super) fn headers(&self, kernel: &[String]) -> Result<Vec<String>> {
        let release = kernel.iter().rev().find_map(|name| name.strip_prefix("linux-image-"));
        let release = release.with_context(|| format!("no kernel in {}", kernel.join(", ")))?;
        self.with_parts(&format!("linux-headers-{release}"), &["linux-headers-", "linux-kbuild-"])
    }

    /// `package`, and all that it depends on, directly or not, whose names begin with one of `prefixes`.
    fn with_parts(&self, package: &str, prefixes: &[&str]) -> Result<Vec<String>> {
        let mut found = vec![package.to_owned()];
        let mut place = 0;
        while let Some(package) = found.get(place).cloned() {
            let shown =
                tools::run(self.command("apt-cache").args(["show", "--no-all-versions", &package]))
                    .with_context(|| {
                        format!("Debian has no package {package} for {}", self.architecture)
                    })?;
            for needed in parts(&shown, prefixes) {
                if !found.contains(&needed) {
                    found.push(needed);
                }
            }
            place += 1;
        }
        Ok(found)
    }

    /// `package` in the suite `release`, with all that it needs and no more.
    pub(super) fn closure(&self, package: &str, release: &str) -> Result<Closure> {
        let mut command = self.command("apt-get");
        command.args(["install", "--print-uris", "--yes", "--no-install-recommends"]);
        let told = tools::run(command.args(["--target-release", release, package]))
            .with_context(|| format!("{release} has no {package} for {}", self.architecture))?;
        parse_closure(&told).with_context(|| format!("apt's list of what {package} needs"))
    }

    /// Downloads `packages` and unpacks all of them into `tree`.
    pub(super) fn unpack(&self, packages: &[String], tree: &Path) -> Result<()> {
        let debs = self.folder.join("debs");
        let dpkg_deb = tools::find("dpkg-deb", "dpkg")?;
        tools::run(self.command("apt-get").current_dir(&debs).arg("download").args(packages))
            .with_context(|| format!("cannot download {}", packages.join(", ")))?;
        fs::create_dir_all(tree)?;
        for entry in fs::read_dir(&debs)? {
            let deb = entry?.path();
            tools::run(Command::new(&dpkg_deb).arg("-x").arg(&deb).arg(tree))?;
            fs::remove_file(&deb)?;
        }
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let place = |option: &str, name: &str| {
            let mut setting = OsString::from(format!("{option}="));
            setting.push(self.folder.join(name));
            setting
        };
        let mut command = Command::new(program);
        for setting in [
            place("Dir::State", ""),
            place("Dir::State::status", "status"),
            place("Dir::State::lists", "lists"),
            place("Dir::Cache", "cache"),
            place("Dir::Etc::sourcelist", "lab.sources"),
            place("Dir::Etc::sourceparts", "none"),
            place("Dir::Etc::preferences", "none"),
            place("Dir::Etc::preferencesparts", "preferences"),
            format!("APT::Architecture={}", self.architecture).into(),
            format!("APT::Architectures={}", self.architecture).into(),
            "Acquire::Languages=none".into(),
            // Metadata for desktops, which would double the download.
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
            // As root, apt would switch to a user who may not write here.
            "APT::Sandbox::User=root".into(),
        ] {
            command.arg("-o").arg(setting);
        }
        command
    }
}

/// The dependencies in apt's output whose names begin with one of `prefixes`. So far, Debian has put all of a kernel into
/// linux-image-VERSION; from 6.17 on, linux-binary and linux-modules are separate packages.
fn parts(shown: &str, prefixes: &[&str]) -> Vec<String> {
    let depends = shown.lines().filter_map(|line| line.strip_prefix("Depends: "));
    depends
        .flat_map(|line| line.split([',', '|']))
        .filter_map(|one| one.split_whitespace().next())
        .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .map(str::to_owned)
        .collect()
}

/// Parses lines such as `'URI' NAME_VERSION_ARCHITECTURE.deb BYTES HASH`.
fn parse_closure(told: &str) -> Result<Closure> {
    let mut closure = Closure { packages: Vec::new(), bytes: 0 };
    for line in told.lines().filter(|line| line.starts_with('\'')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, file, bytes, ..] = words[..] else { bail!("`{line}`") };
        let mut parts = file.split('_');
        let (Some(name), Some(version)) = (parts.next(), parts.next()) else { bail!("`{line}`") };
        closure.packages.push(format!("{name}={}", version.replace("%3a", ":")));
        closure.bytes += bytes.parse::<u64>().with_context(|| format!("`{line}`"))?;
    }
    Ok(closure)
}

/// The sources of the suites: the mirrors from which this machine's apt gets Debian.
fn sources(origin: &Origin<'_>) -> Result<String> {
    let mirrors = Mirrors::find()?;
    let mut text = String::new();
    for suite in origin.suites {
        text.push_str(&format!(
            "Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\nArchitectures: {}\n",
            if suite.ends_with("-security") { &mirrors.security } else { &mirrors.main },
            origin.architecture
        ));
        if Path::new(KEYRING).is_file() {
            text.push_str(&format!("Signed-By: {KEYRING}\n"));
        }
        text.push('\n');
    }
    Ok(text)
}

/// The mirrors of Debian and of its security updates.
#[derive(Debug, PartialEq)]
struct Mirrors {
    main: String,
    security: String,
}

impl Mirrors {
    fn find() -> Result<Mirrors> {
        if let Some(named) = std::env::var_os("CPB_LAB_MIRROR") {
            let main = named.to_string_lossy().trim_end_matches('/').to_owned();
            return Ok(Mirrors { security: format!("{main}-security"), main });
        }
        // The URIs that apt would fetch, available before anything is fetched.
        let told = tools::run(Command::new("apt-get").args(["update", "--print-uris"]))?;
        match Mirrors::parse(&told) {
            Some(mirrors) => Ok(mirrors),
            None => bail!(
                "the apt of this machine gets no packages from Debian; set CPB_LAB_MIRROR to a mirror, such as \
                 the URI in a Debian machine's sources"
            ),
        }
    }

    /// Parses lines such as `'URI/dists/SUITE/InRelease' FILE 0`. Other archives have suites with the same
    /// names; if one were mistaken for Debian, its signature would not match.
    fn parse(told: &str) -> Option<Mirrors> {
        let suite = |line: &str| {
            let line = line.strip_prefix('\'')?.split('\'').next()?;
            let (uri, suite) = line.strip_suffix("/InRelease")?.rsplit_once("/dists/")?;
            Some((uri.to_owned(), suite.to_owned()))
        };
        let suites: Vec<(String, String)> = told.lines().filter_map(suite).collect();
        let serves = |kind: &str| {
            let mut suites = suites.iter();
            let found = suites.find(|(uri, suite)| suite.ends_with(kind) && uri.contains("debian"));
            found.map(|(uri, _)| uri.clone())
        };
        let named = || suites.iter().map(|(uri, _)| uri).find(|uri| uri.ends_with("/debian"));
        let main = serves("-updates").or_else(|| named().cloned())?;
        let security = serves("-security").unwrap_or_else(|| format!("{main}-security"));
        Some(Mirrors { main, security })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_those_of_the_machine() {
        let told = "\
'http://docker.example/linux/debian/dists/bookworm/InRelease' docker_InRelease 0
'http://mirror.example/debian/dists/bookworm/InRelease' mirror_bookworm_InRelease 0
'http://mirror.example/debian/dists/bookworm-updates/InRelease' mirror_updates_InRelease 0
'http://mirror.example/fast/debian-security/dists/bookworm-security/InRelease' security_InRelease 0
'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' mirror_Packages 0
";
        let found = Mirrors::parse(told).expect("there is one");
        assert_eq!(found.main, "http://mirror.example/debian");
        assert_eq!(found.security, "http://mirror.example/fast/debian-security");
        let only = "'http://mirror.example/debian/dists/sid/InRelease' mirror_InRelease 0\n";
        let security = Mirrors::parse(only).map(|mirrors| mirrors.security);
        assert_eq!(security.as_deref(), Some("http://mirror.example/debian-security"));
        let ubuntu =
            "'http://archive.example/ubuntu/dists/noble-updates/InRelease' noble_InRelease 0\n";
        assert_eq!(Mirrors::parse(ubuntu), None);
    }

    #[test]
    fn what_a_package_needs_is_read_with_its_size() {
        let told = "\
Reading package lists...
'http://mirror.example/pool/main/q/qemu/qemu-system-arm_11.1.3_amd64.deb' qemu-system-arm_1%3a11.1.3+ds-1~bpo13+1_amd64.deb 10485760 SHA256:00
'http://mirror.example/pool/main/g/gmp/libgmp10_6.3_amd64.deb' libgmp10_2%3a6.3_amd64.deb 555 SHA256:00
";
        let packages = ["qemu-system-arm=1:11.1.3+ds-1~bpo13+1", "libgmp10=2:6.3"];
        let packages = packages.map(str::to_owned).into();
        assert_eq!(parse_closure(told).expect("a list"), Closure { packages, bytes: 10_486_315 });
        assert!(parse_closure("'http://mirror.example/x.deb' x.deb").is_err());
        assert!(parse_closure("'http://mirror.example/x.deb' x_1_all.deb many").is_err());
    }

    #[test]
    fn a_metapackage_leads_to_its_kernel_and_nowhere_else() {
        let shown =
            "Package: linux-image-amd64\nDepends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\n";
        assert_eq!(parts(shown, &["linux-image-"]), ["linux-image-6.1.0-56-amd64"]);
        let shown = "Depends: kmod, linux-base (>= 4.3~), initramfs-tools | linux-initramfs-tool\n";
        assert!(parts(shown, &["linux-image-"]).is_empty());
    }
}
