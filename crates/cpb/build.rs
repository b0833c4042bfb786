//! Takes in a runner for the system's libraries, where `CPB_CARRIED_RUNNER` names one: `cargo xtask
//! static` builds it first, for a cpb that is linked statically and cannot load libraries itself.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(carries_runner)");
    println!("cargo:rerun-if-env-changed=CPB_CARRIED_RUNNER");
    println!("cargo:rerun-if-changed=build.rs");
    if let Some(runner) = std::env::var_os("CPB_CARRIED_RUNNER").filter(|path| !path.is_empty()) {
        let runner = std::path::PathBuf::from(runner);
        println!("cargo:rerun-if-changed={}", runner.display());
        println!("cargo:rustc-cfg=carries_runner");
        println!("cargo:rustc-env=CPB_CARRIED_RUNNER={}", runner.display());
    }
}
