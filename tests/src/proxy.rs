use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A network that loses connections without telling anyone, or is far away.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens, on this machine.
    pub port: u16,
    /// Those that it means before this changed have heard the last.
    silent: watch::Sender<()>,
}

impl Proxy {
    /// In front of a server of this machine; means the connections on which this was said, and with
    /// nothing to be said all.
    pub async fn start(server: u16, said: &'static [u8]) -> Self {
        Self::between(server, said, None, Duration::ZERO).await
    }

    /// Where everything takes this long, in each direction.
    pub async fn slow(server: u16, delay: Duration) -> Self {
        Self::between(server, b"", None, delay).await
    }

    /// Where what clients say reaches the server in another word of the same length.
    pub async fn rewording(server: u16, said: &'static [u8], heard: &'static [u8]) -> Self {
        assert_eq!(said.len(), heard.len());
        Self::between(server, b"", Some((said, heard)), Duration::ZERO).await
    }

    async fn between(
        server: u16,
        said: &'static [u8],
        word: Option<Word>,
        delay: Duration,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (silent, falls_silent) = watch::channel(());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                connect(client, server, said, word, delay, &falls_silent);
            }
        });
        Self { port, silent }
    }

    /// Nothing more goes through the connections that are meant, and they stay open.
    pub fn silence(&self) {
        self.silent.send_replace(());
    }
}

/// What is said, and what is heard instead.
type Word = (&'static [u8], &'static [u8]);

fn connect(
    client: TcpStream,
    server: TcpStream,
    said: &'static [u8],
    word: Option<Word>,
    delay: Duration,
    falls_silent: &watch::Receiver<()>,
) {
    let is_meant = Arc::new(AtomicBool::new(said.is_empty()));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let line = |is_meant: &Arc<AtomicBool>, word| Line {
        said,
        word,
        delay,
        is_meant: Arc::clone(is_meant),
        falls_silent: falls_silent.clone(),
    };
    tokio::spawn(pass(from_client, to_server, line(&is_meant, word)));
    tokio::spawn(pass(from_server, to_client, line(&is_meant, None)));
}

struct Line {
    said: &'static [u8],
    word: Option<Word>,
    delay: Duration,
    is_meant: Arc<AtomicBool>,
    falls_silent: watch::Receiver<()>,
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut line: Line) {
    // What happened before this connection is not its business.
    line.falls_silent.mark_unchanged();
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut bytes) => read.unwrap_or(0),
            Ok(()) = line.falls_silent.changed() => {
                if line.is_meant.load(Relaxed) {
                    std::future::pending().await
                }
                continue;
            }
        };
        if line.delay > Duration::ZERO {
            tokio::time::sleep(line.delay).await;
        }
        let read = &mut bytes[..read];
        if let Some((said, heard)) = line.word {
            let places = 0..(read.len() + 1).saturating_sub(said.len());
            for place in places {
                let there = &mut read[place..place + said.len()];
                if there == said {
                    there.copy_from_slice(heard);
                }
            }
        }
        if read.is_empty() || to.write_all(read).await.is_err() {
            return;
        }
        let said = line.said;
        if !said.is_empty() && read.windows(said.len()).any(|bytes| bytes == said) {
            line.is_meant.store(true, Relaxed);
        }
    }
}
