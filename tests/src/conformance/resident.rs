use std::fs;

/// How many MiB the memory of this process grows by, at most, from a moment on.
#[derive(Debug)]
pub struct Growth {
    before: u64,
}

impl Growth {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        // The highest mark counts anew.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = resident("VmRSS:");
        Self { before }
    }

    /// So far; prints it.
    #[must_use]
    pub fn told(&self, what: &str) -> u64 {
        let (before, most) = (self.before, resident("VmHWM:"));
        let growth = most.saturating_sub(before);
        println!("{what}: {before} MiB before, {most} at most, so {growth} more");
        growth
    }
}

/// A line of this process's status, in MiB.
fn resident(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let kib = lines.find_map(|text| text.strip_prefix(line)).unwrap();
    let kib: u64 = kib.split_whitespace().next().unwrap().parse().unwrap();
    kib / 1024
}
