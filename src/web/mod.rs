//! The page: what a browser gets that opens the server's address. It is built from `web/`, lies in the binary, and calls the
//! public API as any other client does.

use std::sync::LazyLock;

use axum::Router;
use http::{HeaderName, HeaderValue, header};
use memory_serve::{Asset, CacheControl, MemoryServe};
use tower_http::set_header::SetResponseHeaderLayer;
use tracing::subscriber::{NoSubscriber, with_default};

/// Made by `build.rs` of `web/dist`.
const FILES: &[Asset] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Everything comes from this server, and nothing that somebody wrote into a chat can run. A picture of a board is made in
/// the browser, as `data:` or `blob:`.
const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                       connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                       frame-ancestors 'none'";

const SAID_WITH_EACH: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // An invitation's code is nobody else's business.
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The files of the page, and 404 for all others.
pub fn page() -> Router {
    PAGE.clone()
}

/// Once: it is decompressed for the life of the process.
static PAGE: LazyLock<Router> = LazyLock::new(|| {
    // It would tell of each file.
    let files = with_default(NoSubscriber::new(), || {
        MemoryServe::new(FILES)
            .enable_gzip(true)
            .enable_brotli(true)
            // What these are called depends on what is in them.
            .cache_control(CacheControl::Long)
            .html_cache_control(CacheControl::NoCache)
            .into_router()
    });
    SAID_WITH_EACH.into_iter().fold(files, |files, (name, value)| {
        files.layer(SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value)))
    })
});
