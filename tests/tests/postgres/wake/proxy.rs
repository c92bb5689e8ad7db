use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A network that loses connections without telling anyone.
pub(super) struct Proxy {
    pub(super) port: u16,
    /// Those that listened before this changed have heard the last.
    cut: watch::Sender<()>,
}

impl Proxy {
    /// In front of a server of this machine.
    pub(super) async fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (cut, cuts) = watch::channel(());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                connect(client, server, cuts.clone());
            }
        });
        Self { port, cut }
    }

    /// Nothing more goes through the connections on which somebody listens, and they stay open.
    pub(super) fn cut(&self) {
        self.cut.send_replace(());
    }
}

fn connect(client: TcpStream, server: TcpStream, cuts: watch::Receiver<()>) {
    let listens = Arc::new(AtomicBool::new(false));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let there = pass(from_client, to_server, listens.clone(), cuts.clone());
    tokio::spawn(there);
    tokio::spawn(pass(from_server, to_client, listens, cuts));
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    listens: Arc<AtomicBool>,
    mut cuts: watch::Receiver<()>,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut bytes) => read.unwrap_or(0),
            Ok(()) = cuts.changed() => {
                if listens.load(Relaxed) {
                    std::future::pending().await
                }
                continue;
            }
        };
        let read = &bytes[..read];
        if read.is_empty() || to.write_all(read).await.is_err() {
            return;
        }
        if read.windows(8).any(|bytes| bytes == b"LISTEN \"") {
            listens.store(true, Relaxed);
        }
    }
}
