//! The web page, and the board that other sites' pages may embed. Both are built from `web/`, embedded in the binary,
//! and call the public API like any other client.

use std::{
    io::Read as _,
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    extract::State,
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::Bytes;
use flate2::{Compression, read::GzEncoder};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use include_dir::{Dir, File, include_dir};
use tower_http::set_header::SetResponseHeaderLayer;

/// `build.rs` watches the same folder, so that a new file rebuilds the crate.
static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/web/dist");

/// Permits files of this server only, so that a script in a chat line cannot run. The page creates images of boards
/// as `data:` and `blob:` URLs. [`Framing`] completes it.
const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                       connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
                       form-action 'none'";

/// Cache control of files whose names contain a hash of their content: those in `assets`.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Cache control of other files. The browser asks each time whether its version is the current one.
const REVALIDATED: &str = "no-cache";

const SECURITY_HEADERS: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // An invitation's URL contains the join code.
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Which pages may show a file.
#[derive(Clone, Copy)]
struct Framing {
    /// `frame-ancestors` of the content security policy.
    ancestors: &'static str,
    /// `cross-origin-resource-policy`.
    resource: &'static str,
}

/// A player's clicks must not be led to the page by a page around it.
const UNFRAMED: Framing = Framing { ancestors: "'none'", resource: "same-origin" };

/// The embedded board only reads, without a token.
const FRAMED_BY_ALL: Framing = Framing { ancestors: "*", resource: "cross-origin" };

/// Routes of the page's files.
pub fn page() -> Router {
    PAGE.clone()
}

/// Built once, because it compresses the files.
static PAGE: LazyLock<Router> = LazyLock::new(|| {
    let files = add_files(Router::new(), &FILES);
    SECURITY_HEADERS.into_iter().fold(files, |files, (name, value)| {
        files.layer(SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value)))
    })
});

fn add_files(files: Router, folder: &'static Dir) -> Router {
    let files = folder.files().fold(files, |files, file| {
        let path = file.path().to_string_lossy();
        let (path, framing) = match path.as_ref() {
            "index.html" => ("/".to_owned(), UNFRAMED),
            "embed.html" => ("/embed".to_owned(), FRAMED_BY_ALL),
            path => (format!("/{path}"), UNFRAMED),
        };
        files.route(&path, get(answer).with_state(Arc::new(Asset::new(file, framing))))
    });
    folder.dirs().fold(files, add_files)
}

struct Asset {
    content_type: &'static str,
    cache_control: &'static str,
    content_policy: String,
    resource_policy: &'static str,
    etag: String,
    plain: &'static [u8],
    /// `None` if compression saves nothing.
    compressed: Option<Bytes>,
}

impl Asset {
    fn new(file: &'static File, framing: Framing) -> Self {
        let content_type = match file.path().extension().and_then(|extension| extension.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("webmanifest") => "application/manifest+json",
            _ => "application/octet-stream",
        };
        let cache_control = if file.path().starts_with("assets") { IMMUTABLE } else { REVALIDATED };
        let plain = file.contents();
        let mut compressed = Vec::new();
        let read = GzEncoder::new(plain, Compression::best()).read_to_end(&mut compressed);
        let compressed = (read.is_ok() && compressed.len() < plain.len()).then(|| compressed.into());
        let etag = format!("\"{:08x}-{:x}\"", crc32fast::hash(plain), plain.len());
        let content_policy = format!("{CONTENT}; frame-ancestors {}", framing.ancestors);
        let resource_policy = framing.resource;
        Self { content_type, cache_control, content_policy, resource_policy, etag, plain, compressed }
    }
}

/// Sends a file, compressed if the browser accepts that, or 304 if the browser has the current version.
async fn answer(State(asset): State<Arc<Asset>>, request: HeaderMap) -> Response {
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, asset.cache_control),
        (header::CONTENT_SECURITY_POLICY, &asset.content_policy),
        (HeaderName::from_static("cross-origin-resource-policy"), asset.resource_policy),
        (header::ETAG, &asset.etag),
        (header::VARY, "accept-encoding"),
    ];
    let has = |name: HeaderName, item: &str| {
        let values = request.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim() == item)
    };
    match &asset.compressed {
        _ if has(header::IF_NONE_MATCH, &asset.etag) => (StatusCode::NOT_MODIFIED, headers).into_response(),
        Some(compressed) if has(header::ACCEPT_ENCODING, "gzip") => {
            (headers, [(header::CONTENT_ENCODING, "gzip")], compressed.clone()).into_response()
        }
        _ => (headers, asset.plain).into_response(),
    }
}
