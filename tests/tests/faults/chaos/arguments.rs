//! What cannot be done is said before anything is started.

use std::process::Command;

fn complaint(url: &str, faults: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .args(["--database-url", url, "--faults", faults, "--seed", "1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unknown_fault_is_named() {
    let complaint = complaint("sqlite://none", "kill,flood");
    assert!(complaint.contains("no fault \"flood\""), "{complaint}");
}

#[test]
fn a_restart_needs_a_command() {
    let complaint = complaint("postgres://localhost/none", "restart");
    assert!(complaint.contains("needs --restart-command"), "{complaint}");
}

#[test]
fn what_needs_a_server_is_refused_on_sqlite() {
    for fault in ["disconnect", "clock"] {
        let complaint = complaint("sqlite://none", fault);
        assert!(complaint.contains("needs a server"), "{complaint}");
    }
}
