//! What cpb reports about `/dev/crypto` without the module behind it, which no registry has.

use super::guests::{USUAL, here};
use cpb_test_support::lab;

/// The states of `/dev/crypto`, and the message for each. The last one runs as the user nobody.
const STATES: [(&str, &str); 4] = [
    ("true", "no /dev/crypto: the kernel module cryptodev is not loaded (modprobe cryptodev)"),
    (
        "touch /dev/crypto",
        "/dev/crypto does not belong to the module cryptodev: it does not support sessions",
    ),
    ("ln -sf /dev/null /dev/crypto", "/dev/crypto does not belong to the module cryptodev"),
    (
        "rm /dev/crypto && touch /dev/crypto && chmod 600 /dev/crypto && \
         echo 'nobody:x:99:99::/:/bin/sh' > /etc/passwd && chmod 777 /tmp && \
         run() { su nobody -s /bin/sh -c \"$cpb\"; }",
        "/dev/crypto exists, but this user may not read and write it",
    ),
];

#[test]
fn what_is_at_the_device_node_is_told_apart() {
    if !here("cryptodev") {
        return;
    }
    let lab = lab!();
    let mut script = "mkdir -p /etc; cd /tmp\n\
        cpb='cpb run -q -p cryptodev -a aes-128-cbc -s 16 --budget 1s'\nrun() { $cpb; }\n"
        .to_owned();
    for (number, (prepare, _)) in STATES.iter().enumerate() {
        script += &format!("{prepare} || exit 9\necho \"= {number}\"\nrun 2>&1\necho status $?\n");
    }
    lab.write("states.sh", script);
    let ran = lab.shell(&format!("cpb lab run {USUAL} -- sh -s < states.sh"));
    let said: Vec<&str> = ran.stdout.split("= ").skip(1).collect();
    assert_eq!(said.len(), STATES.len(), "{}", ran.all());
    for (said, (prepare, words)) in said.iter().zip(STATES) {
        assert!(said.contains(words), "{prepare}: {said}");
        // Nothing else was selected, so there is nothing to measure.
        assert!(said.contains("status 2"), "{prepare}: {said}");
    }
}
