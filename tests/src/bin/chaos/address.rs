/// Where a URL says that the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    before: String,
    /// Host and port.
    pub(crate) host: String,
    after: String,
}

impl Address {
    pub(crate) fn of(url: &str) -> Result<Self, String> {
        let bad = || format!("no URL of a server, such as postgres://user@host:port/name: {url:?}");
        let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
        let port = match scheme {
            "postgres" | "postgresql" => 5432,
            "mysql" | "mariadb" => 3306,
            _ => return Err(bad()),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (user, host) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        if host.is_empty() {
            return Err(bad());
        }
        let host = match host.rsplit_once(':') {
            Some(_) => host.to_owned(),
            None => format!("{host}:{port}"),
        };
        Ok(Self {
            before: format!("{scheme}://{user}"),
            host,
            after: path.to_owned(),
        })
    }

    /// The same database through another port of this machine.
    pub(crate) fn through(&self, port: u16) -> String {
        format!("{}127.0.0.1:{port}{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_reached_through_another_port() {
        let through = |url| Address::of(url).unwrap().through(7);
        let expected = "postgres://me:a@b@127.0.0.1:7/db?x=1";
        assert_eq!(through("postgres://me:a@b@host:5433/db?x=1"), expected);
        assert_eq!(through("mysql://host"), "mysql://127.0.0.1:7");
        assert_eq!(Address::of("mysql://host").unwrap().host, "host:3306");
        assert!(Address::of("sqlite://file").is_err());
    }
}
