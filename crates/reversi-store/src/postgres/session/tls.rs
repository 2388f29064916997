//! TLS to the database: whose certificates are accepted.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor,
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::postgres::error::PostgresError;

/// Whose certificate a database may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any: what is sent is encrypted, and who gets it is unknown.
    Anyone,
    /// One of an authority in this file, for any name.
    Authority(PathBuf),
    /// One of an authority in this file, for the name of the host.
    AuthorityAndName(PathBuf),
    /// One of an authority of this system, for the name of the host.
    System,
}

pub(super) fn connector(trust: Trust) -> Result<MakeRustlsConnect, PostgresError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| PostgresError::Database(error.to_string()))?;
    let any_name = |authorities| Arc::new(AnyName { authorities, provider });
    let config = match trust {
        Trust::Anyone => config.dangerous().with_custom_certificate_verifier(any_name(None)),
        Trust::Authority(file) => {
            config.dangerous().with_custom_certificate_verifier(any_name(Some(authorities_in(&file)?)))
        }
        Trust::AuthorityAndName(file) => config.with_root_certificates(authorities_in(&file)?),
        Trust::System => config.with_root_certificates(authorities_of_system()?),
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn authorities_in(file: &Path) -> Result<RootCertStore, PostgresError> {
    let problem = |problem: String| PostgresError::Option(format!("sslrootcert={}: {problem}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| problem(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate).map_err(|error| problem(error.to_string()))?;
    }
    if roots.is_empty() { Err(problem("it has no certificate in PEM".to_owned())) } else { Ok(roots) }
}

fn authorities_of_system() -> Result<RootCertStore, PostgresError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(PostgresError::NoAuthority) } else { Ok(roots) }
}

/// Accepts certificates of these authorities, or all of them, for any name.
#[derive(Debug)]
struct AnyName {
    authorities: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            let certificate = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, authorities, intermediates, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Anyone can sign for a certificate that nobody has checked, and some are too old to be read.
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
