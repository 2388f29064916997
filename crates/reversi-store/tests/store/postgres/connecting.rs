//! Connections to a database with TLS, by each `sslmode`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use reversi_needs::needs;
use reversi_store::{NodeTable, PostgresError};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use super::{
    proxy::SOCKET,
    server::{Database, database},
};

/// What a client asks first, to speak TLS.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// As with `hostssl` in `pg_hba.conf`.
const NO_ENCRYPTION: &[u8] = b"SFATAL\0VFATAL\0C28000\0Mno pg_hba.conf entry for host, no encryption\0\0";
const WRONG_PASSWORD: &[u8] = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0";

/// What the front does with connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Front {
    /// Has no TLS.
    Plain,
    /// Offers TLS.
    Encrypted,
    /// Refuses connections without TLS by this error.
    Refusing(&'static [u8]),
}

/// A TCP port of a database that has only a UNIX socket, with TLS.
struct TlsFront {
    port: u16,
    folder: TempDir,
    /// Whether the last connection that came to the database used TLS.
    used_tls: watch::Receiver<bool>,
    _tasks: JoinSet<()>,
}

impl TlsFront {
    async fn start(database: &Database, front: Front) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let acceptor = certified(folder.path());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = database.server.folder().join(SOCKET);
        let (using, used_tls) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut links = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                links.spawn(serve(client, acceptor.clone(), socket.clone(), using.clone(), front));
            }
        });
        Self { port, folder, used_tls, _tasks: tasks }
    }

    /// Reads the table of nodes by a URL with these options. Returns whether the connection used TLS.
    async fn ask(&self, schema: &str, host: &str, options: &str) -> Result<bool, PostgresError> {
        let url = format!(
            "postgres://reversi@{host}:{}/postgres?options=-csearch_path%3D{schema}&{}",
            self.port,
            options.replace("FOLDER", self.folder.path().to_str().unwrap())
        );
        NodeTable::open(&url, Duration::from_secs(20)).await?.nodes().await?;
        Ok(*self.used_tls.borrow())
    }
}

/// A certificate for `localhost`, in `own.crt`, of an authority in `root.crt`; another authority is in `other.crt`.
fn certified(folder: &Path) -> TlsAcceptor {
    let authority = |file| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        fs::write(folder.join(file), params.self_signed(&key).unwrap().pem()).unwrap();
        Issuer::new(params, key)
    };
    let (authority, _) = (authority("root.crt"), authority("other.crt"));
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(folder.join("own.crt"), own.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![CertificateDer::from(own)], key).unwrap()).into()
}

async fn serve(
    mut client: TcpStream,
    acceptor: TlsAcceptor,
    socket: PathBuf,
    using: watch::Sender<bool>,
    front: Front,
) {
    let mut first = [0; 8];
    if client.read_exact(&mut first).await.is_err() {
        return;
    }
    if first == TLS_REQUEST && front != Front::Plain {
        client.write_all(b"S").await.unwrap();
        if let Ok(client) = acceptor.accept(client).await {
            using.send_replace(true);
            join(client, &[], &socket).await;
        }
    } else if let Front::Refusing(refusal) = front {
        let length = u32::try_from(4 + refusal.len()).unwrap();
        client.write_all(&[&b"E"[..], &length.to_be_bytes(), refusal].concat()).await.unwrap();
    } else {
        using.send_replace(false);
        if first == TLS_REQUEST {
            client.write_all(b"N").await.unwrap();
            client.read_exact(&mut first).await.unwrap();
        }
        join(client, &first, &socket).await;
    }
}

/// Passes everything on, after these bytes.
async fn join(mut client: impl AsyncRead + AsyncWrite + Unpin, first: &[u8], socket: &Path) {
    let mut database = UnixStream::connect(socket).await.unwrap();
    database.write_all(first).await.unwrap();
    // The client may just close it.
    let _ = copy_bidirectional(&mut client, &mut database).await;
}

#[needs(postgres)]
#[tokio::test]
async fn a_database_with_tls_is_reached_and_verified_as_by_libpq() {
    let database = database();
    database.open().await;
    let front = TlsFront::start(&database, Front::Encrypted).await;
    for (host, options, uses_tls) in [
        ("127.0.0.1", "", true),
        ("127.0.0.1", "sslmode=disable", false),
        ("127.0.0.1", "sslmode=allow", false),
        ("127.0.0.1", "sslmode=prefer", true),
        ("127.0.0.1", "sslmode=require", true),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=FOLDER/root.crt", true),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/root.crt", true),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/own.crt", true),
    ] {
        let asked = front.ask(&database.schema, host, options).await;
        assert_eq!(asked.map_err(|error| error.to_string()), Ok(uses_tls), "{host} {options}");
    }
    for (host, options, reason) in [
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/root.crt", "not valid for name"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/own.crt", "not valid for name"),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/other.crt", "invalid peer certificate"),
        ("localhost", "sslmode=verify-ca&sslrootcert=FOLDER/other.crt", "invalid peer certificate"),
        ("localhost", "sslmode=require&sslrootcert=FOLDER/other.crt", "invalid peer certificate"),
        ("localhost", "sslmode=require&sslrootcert=FOLDER/missing.crt", "missing.crt: "),
    ] {
        let refused = front.ask(&database.schema, host, options).await.unwrap_err().to_string();
        assert!(refused.contains(reason), "{host} {options}: {refused}");
    }
}

#[needs(postgres)]
#[tokio::test]
async fn a_database_without_tls_is_reached_unless_tls_is_required() {
    let database = database();
    database.open().await;
    let front = TlsFront::start(&database, Front::Plain).await;
    assert!(!front.ask(&database.schema, "127.0.0.1", "sslmode=prefer").await.unwrap());
    let refused = front.ask(&database.schema, "127.0.0.1", "sslmode=require").await.unwrap_err().to_string();
    assert!(refused.contains("does not support TLS"), "{refused}");
}

#[needs(postgres)]
#[tokio::test]
async fn a_database_that_accepts_only_tls_is_reached_unless_tls_is_disabled() {
    let database = database();
    database.open().await;
    let front = TlsFront::start(&database, Front::Refusing(NO_ENCRYPTION)).await;
    assert!(front.ask(&database.schema, "127.0.0.1", "sslmode=allow").await.unwrap());
    let refused = front.ask(&database.schema, "127.0.0.1", "sslmode=disable").await.unwrap_err().to_string();
    assert!(refused.contains("no encryption"), "{refused}");
}

#[needs(postgres)]
#[tokio::test]
async fn a_wrong_password_may_be_one_with_a_special_character() {
    let database = database();
    let front = TlsFront::start(&database, Front::Refusing(WRONG_PASSWORD)).await;
    let refused = front.ask(&database.schema, "127.0.0.1", "sslmode=disable").await.unwrap_err().to_string();
    assert!(refused.contains("authentication failed; in a URL") && refused.contains("@ as %40"), "{refused}");
}
