//! TLS to the database: whose certificates are accepted.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
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
    let verifier = |trusted, checks_name| Arc::new(Verifier { trusted, checks_name, provider });
    let config = match trust {
        Trust::System => config.with_root_certificates(authorities_of_system()?),
        Trust::Anyone => config.dangerous().with_custom_certificate_verifier(verifier(None, false)),
        Trust::Authority(file) => {
            config.dangerous().with_custom_certificate_verifier(verifier(Some(Trusted::read(&file)?), false))
        }
        Trust::AuthorityAndName(file) => {
            config.dangerous().with_custom_certificate_verifier(verifier(Some(Trusted::read(&file)?), true))
        }
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn authorities_of_system() -> Result<RootCertStore, PostgresError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(PostgresError::NoAuthority) } else { Ok(roots) }
}

/// The certificates of a file: of authorities, or of the database itself, which may have signed it by its own key.
#[derive(Debug)]
struct Trusted {
    roots: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn read(file: &Path) -> Result<Self, PostgresError> {
        let problem = |problem: String| PostgresError::Option(format!("sslrootcert={}: {problem}", file.display()));
        let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let certificates = certificates.map_err(|error| problem(error.to_string()))?;
        if certificates.is_empty() {
            return Err(problem("it has no certificate in PEM".to_owned()));
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| problem(error.to_string()))?;
        }
        Ok(Self { roots, certificates })
    }
}

/// Accepts certificates that are trusted, or of trusted authorities; without these, any.
#[derive(Debug)]
struct Verifier {
    trusted: Option<Trusted>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let parsed = ParsedCertificate::try_from(certificate)?;
        if !trusted.certificates.contains(certificate) {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&parsed, &trusted.roots, intermediates, now, algorithms)?;
        }
        if self.checks_name {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Without a check of the certificate, that of the signature proves nothing, and fails for old certificates.
        if self.trusted.is_none() {
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
        if self.trusted.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
