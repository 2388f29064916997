//! TLS: certificates of the server and of clients, and the offered protocols.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use reversi::{
    client::{Client, ClientError, PlayerKind, Trust},
    grpc::{Access, Tls},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
};

use crate::harness::in_process::{ServerOptions, TestServer, within};

/// A certificate authority.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate for a name, and its key.
    pub(crate) fn sign(&self, name: &str) -> (Vec<u8>, Vec<u8>) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem().into_bytes(), key.serialize_pem().into_bytes())
    }

    fn pem(&self) -> Vec<u8> {
        self.pem.clone().into_bytes()
    }

    pub(crate) fn trusted(&self) -> Trust {
        Trust { authority: Some(self.pem()), identity: None }
    }
}

/// A server at 127.0.0.1 with a certificate of `authority`; with `clients`, clients need a certificate of that
/// authority.
async fn tls_server(authority: &Authority, clients: Option<&Authority>) -> TestServer {
    let (chain, key) = authority.sign("127.0.0.1");
    let clients = clients.map(Authority::pem);
    let tls = Tls::from_pem(&chain, &key, clients.as_deref()).unwrap();
    TestServer::with(ServerOptions {
        access: Access { tls: Some(tls), ..Access::default() },
        ..ServerOptions::default()
    })
    .await
}

/// A connection that offers one protocol by ALPN.
async fn connect(server: &TestServer, authority: &Authority, protocol: &[u8]) -> TlsStream<TcpStream> {
    handshake(TcpStream::connect(&server.address).await.unwrap(), authority, "127.0.0.1", protocol).await
}

/// Begins TLS with a server of this name.
pub(crate) async fn handshake(
    socket: TcpStream,
    authority: &Authority,
    name: &'static str,
    protocol: &[u8],
) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(ring::default_provider().into());
    let config = config.with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    within(TlsConnector::from(std::sync::Arc::new(config)).connect(name.try_into().unwrap(), socket)).await.unwrap()
}

#[tokio::test]
async fn a_client_plays_over_tls_with_a_trusted_server() {
    let authority = Authority::new();
    let server = tls_server(&authority, None).await;
    let url = format!("https://{}", server.address);
    let client = Client::connect_trusting(&url, &authority.trusted()).await.unwrap();
    let ada = client.log_in("Ada", PlayerKind::Human).await.unwrap();
    assert_eq!(ada.me().await.unwrap().player.name, "Ada");
    for stranger in [Authority::new().trusted(), Trust::default()] {
        let error = Client::connect_trusting(&url, &stranger).await.unwrap_err();
        assert!(matches!(&error, ClientError::Unreachable(tried) if tried[0].cause.contains("certificate")), "{error}");
    }
    let plain = Client::connect(&format!("http://{}", server.address)).await;
    let spoke = match plain {
        Ok(client) => client.log_in("Eve", PlayerKind::Human).await.is_ok(),
        Err(_) => false,
    };
    assert!(!spoke, "without TLS the server sends nothing");
}

#[tokio::test]
async fn a_server_requires_client_certificates_if_configured() {
    let (authority, club) = (Authority::new(), Authority::new());
    let server = tls_server(&authority, Some(&club)).await;
    let url = format!("https://{}", server.address);
    let log_in = async |name: &str, identity| {
        let trust = Trust { identity, ..authority.trusted() };
        Client::connect_trusting(&url, &trust).await?.log_in(name, PlayerKind::Human).await
    };
    assert!(log_in("member", Some(club.sign("member"))).await.is_ok());
    assert!(log_in("stranger", Some(Authority::new().sign("member"))).await.is_err());
    assert!(log_in("nobody", None).await.is_err());
}

#[tokio::test]
async fn a_browser_may_use_either_protocol() {
    let authority = Authority::new();
    let server = tls_server(&authority, None).await;
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let stream = connect(&server, &authority, protocol).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
    }
    let mut stream = connect(&server, &authority, b"http/1.1").await;
    let call = b"POST /reversi.v1.SessionService/GetMe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                 content-type: application/grpc-web+proto\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0";
    stream.write_all(call).await.unwrap();
    let mut answer = Vec::new();
    // The server may close without a TLS close notification.
    let _ = within(stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("200 OK") && answer.contains("TOKEN_MISSING"), "{answer}");
}
