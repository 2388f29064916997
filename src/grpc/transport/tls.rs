//! TLS: the server's certificate and key, and the certificate authority of the clients.

use std::{fmt, sync::Arc};

use arc_swap::ArcSwap;
use thiserror::Error;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
        server::{VerifierBuilderError, WebPkiClientVerifier},
    },
};
use x509_cert::{Certificate, der::Decode as _};

use crate::room::Timestamp;

/// The protocols offered by ALPN, the preferred first: gRPC needs HTTP/2, gRPC-Web works over both.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The TLS configuration of a server. Clones share it, and it can be replaced while the server runs.
#[derive(Clone)]
pub struct Tls {
    loaded: Arc<ArcSwap<Loaded>>,
}

struct Loaded {
    config: Arc<ServerConfig>,
    expires: Option<Timestamp>,
}

/// The error of a certificate or key that cannot be used.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The chain has no certificate.
    #[error("the certificate file holds no certificate in PEM")]
    NoCertificate,
    /// The key cannot be read.
    #[error("the key file holds no private key in PEM")]
    NoKey,
    /// The certificate or the key can be parsed, but not used.
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[source] rustls::Error),
    /// The key belongs to another certificate.
    #[error("the key does not belong to the certificate")]
    Mismatch,
    /// The file of the clients' authority has no usable certificate.
    #[error("the file of the clients' authority holds no usable certificate in PEM")]
    NoClientAuthority,
    /// Clients cannot be verified by the authority's certificates.
    #[error("clients cannot be checked by the certificates of their authority: {0}")]
    ClientAuthority(#[from] VerifierBuilderError),
}

impl Tls {
    /// Reads a chain of certificates, the server's own first, and its key, both in PEM. If `client_authority` is given,
    /// only clients with a certificate of that authority are accepted.
    ///
    /// # Errors
    /// If one of them cannot be read, or the key does not match the certificate.
    pub fn from_pem(chain: &[u8], key: &[u8], client_authority: Option<&[u8]>) -> Result<Self, TlsError> {
        let chain = certificates(chain).ok_or(TlsError::NoCertificate)?;
        let expires = chain.first().and_then(|own| expires(own));
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?;
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?;
        let config = match client_authority {
            None => config.with_no_client_auth(),
            Some(authority) => {
                let roots = Arc::new(roots(authority).ok_or(TlsError::NoClientAuthority)?);
                config.with_client_cert_verifier(WebPkiClientVerifier::builder_with_provider(roots, provider).build()?)
            }
        };
        let mut config = config.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::Mismatch,
            error => TlsError::Unusable(error),
        })?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self { loaded: Arc::new(ArcSwap::from_pointee(Loaded { config: Arc::new(config), expires })) })
    }

    /// Uses the configuration of `other` for new connections.
    pub fn replace(&self, other: &Self) {
        self.loaded.store(other.loaded.load_full());
    }

    /// When the server's own certificate expires, if that can be read.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.loaded.load().expires
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.loaded.load().config).into()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(..)")
    }
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().ok()?;
    (!found.is_empty()).then_some(found)
}

/// When a certificate expires.
fn expires(certificate: &[u8]) -> Option<Timestamp> {
    let read = Certificate::from_der(certificate).ok()?;
    let since_1970 = read.tbs_certificate.validity.not_after.to_unix_duration();
    Some(Timestamp(0).after(since_1970))
}

fn roots(pem: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).ok()?;
    }
    Some(roots)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, CertifiedKey, KeyPair, date_time_ymd, generate_simple_self_signed};

    use super::*;

    fn pair() -> (String, String) {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (cert.pem(), signing_key.serialize_pem())
    }

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2030, 1, 1);
        let key = KeyPair::generate().unwrap();
        let chain = params.self_signed(&key).unwrap().pem();
        let tls = Tls::from_pem(chain.as_bytes(), key.serialize_pem().as_bytes(), None).unwrap();
        assert_eq!(tls.expires(), Some(Timestamp(1_893_456_000_000_000)));
    }

    #[test]
    fn each_unusable_file_has_its_error() {
        let ((chain, key), (_, other)) = (pair(), pair());
        let made = |chain: &str, key: &str, authority: Option<&str>| {
            Tls::from_pem(chain.as_bytes(), key.as_bytes(), authority.map(str::as_bytes))
        };
        assert!(made(&chain, &key, None).is_ok() && made(&chain, &key, Some(&chain)).is_ok());
        assert!(matches!(made("", &key, None), Err(TlsError::NoCertificate)));
        assert!(matches!(made(&key, &key, None), Err(TlsError::NoCertificate)));
        assert!(matches!(made(&chain, &chain, None), Err(TlsError::NoKey)));
        assert!(matches!(made(&chain, &other, None), Err(TlsError::Mismatch)));
        assert!(matches!(made(&chain, &key, Some("")), Err(TlsError::NoClientAuthority)));
    }
}
