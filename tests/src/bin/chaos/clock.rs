use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The wall clock of one process, some hours off: libfaketime reads from a file by how much.
#[derive(Debug)]
pub(crate) struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    pub(crate) fn new(library: &Path, file: PathBuf) -> Result<Self, String> {
        let clock = Self {
            library: library.to_owned(),
            file,
        };
        clock.set(0)?;
        Ok(clock)
    }

    /// Lets it be this many seconds fast, from one second on to the next.
    pub(crate) fn set(&self, seconds: i64) -> Result<(), String> {
        // In one step: it may be read at any time.
        let new = self.file.with_extension("new");
        let set =
            fs::write(&new, format!("{seconds:+}\n")).and_then(|()| fs::rename(&new, &self.file));
        set.map_err(|error| format!("{}: {error}", self.file.display()))
    }

    /// Gives the clock to a process. Its monotonic clock stays as it is: computers have but one.
    pub(crate) fn give(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_CACHE_DURATION", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    }
}

/// Where libfaketime is, which must work.
pub(crate) fn library() -> Result<PathBuf, String> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
    let names = ["faketime/libfaketime.so.1", "libfaketime.so.1"];
    let inner = folders.iter().flat_map(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    });
    let all = folders.iter().map(PathBuf::from).chain(inner);
    let mut found = all.flat_map(|folder| names.map(|name| folder.join(name)));
    let missing = "the fault clock needs libfaketime (the Debian package faketime)";
    let library = found.find(|path| path.is_file()).ok_or(missing)?;
    let now = |offset: &str| {
        let mut date = Command::new("date");
        date.arg("+%s")
            .env("LD_PRELOAD", &library)
            .env("FAKETIME", offset);
        let output = date.output().ok()?;
        String::from_utf8(output.stdout)
            .ok()?
            .trim()
            .parse::<i64>()
            .ok()
    };
    match (now("+0"), now("+36000")) {
        (Some(now), Some(later)) if later >= now + 36_000 => Ok(library),
        _ => Err(format!("{} does not change the clock", library.display())),
    }
}
