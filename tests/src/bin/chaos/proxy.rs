use super::address::Address;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
};

/// Between a process and its server; ends with this.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    line: watch::Sender<Line>,
    task: AbortHandle,
}

/// What the connections do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    /// All that were made before the last cut are over.
    cuts: u64,
    /// Nothing comes through, and nobody is told.
    is_dead: bool,
}

impl Proxy {
    pub(crate) async fn start(server: &Address) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let (line, watch) = watch::channel(Line {
            cuts: 0,
            is_dead: false,
        });
        let task = tokio::spawn(accept(listener, server.host.clone(), watch));
        Ok(Self {
            port,
            line,
            task: task.abort_handle(),
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        self.line.send_modify(|line| line.cuts += 1);
    }

    /// Lets nothing through for a while, new connections included, and ends them all then.
    pub(crate) async fn half_open(&self, time: Duration) {
        self.line.send_modify(|line| line.is_dead = true);
        tokio::time::sleep(time).await;
        self.line.send_modify(|line| {
            line.is_dead = false;
            line.cuts += 1;
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: String, line: watch::Receiver<Line>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else {
            continue;
        };
        connections.spawn(connection(client, server.clone(), line.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Until one end closes, or it is cut.
async fn connection(mut client: TcpStream, server: String, mut line: watch::Receiver<Line>) {
    let cuts = line.borrow_and_update().cuts;
    let mut cut = line.clone();
    let talk = async {
        let _ = line.wait_for(|line| !line.is_dead).await;
        let Ok(mut server) = TcpStream::connect(server).await else {
            return;
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::select! {
            () = pump(from_client, to_server, line.clone()) => {}
            () = pump(from_server, to_client, line.clone()) => {}
        }
    };
    tokio::select! {
        () = talk => {}
        _ = cut.wait_for(|line| line.cuts != cuts) => {}
    }
}

async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut line: watch::Receiver<Line>,
) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let _ = line.wait_for(|line| !line.is_dead).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
