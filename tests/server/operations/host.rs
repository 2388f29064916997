//! Requests for hosts that the server does not have.

use reversi::proto::v1::{LogInRequest, session_service_client::SessionServiceClient};
use tonic::{Code, transport::Endpoint};

use crate::harness::process::{Server, http_get_of};

/// The status line of the page for this host.
fn status(server: &Server, host: &str) -> String {
    let (head, _) = http_get_of(&format!("{}/", server.url), host);
    head.lines().next().unwrap().to_owned()
}

#[test]
fn a_server_on_loopback_serves_no_other_hosts_than_those_of_this_machine() {
    let server = Server::start(&[]);
    for host in ["localhost", "127.0.0.1:50051", "[::1]"] {
        assert_eq!(status(&server, host), "HTTP/1.1 200 OK", "{host}");
    }
    assert_eq!(status(&server, "evil.example:50051"), "HTTP/1.1 421 Misdirected Request");
    let (_, text) = http_get_of(&format!("{}/", server.url), "evil.example");
    assert!(text.contains("--host NAME"), "{text}");
}

#[test]
fn further_names_are_given_by_an_option() {
    let server = Server::start(&["--host", "reversi.example.org,other.example.org"]);
    for host in ["localhost", "reversi.example.org", "Other.example.org:443"] {
        assert_eq!(status(&server, host), "HTTP/1.1 200 OK", "{host}");
    }
    assert_eq!(status(&server, "evil.example"), "HTTP/1.1 421 Misdirected Request");
}

#[test]
fn on_an_address_for_other_machines_all_hosts_are_served_unless_names_are_given() {
    let open = Server::start(&["--insecure", "--listen", "0.0.0.0:0"]);
    assert_eq!(status(&open, "any.example"), "HTTP/1.1 200 OK");
    let named = Server::start(&["--insecure", "--listen", "0.0.0.0:0", "--host", "reversi.example.org"]);
    assert_eq!(status(&named, "any.example"), "HTTP/1.1 421 Misdirected Request");
    assert_eq!(status(&named, "reversi.example.org"), "HTTP/1.1 200 OK");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_another_host_gets_an_error_of_grpc() {
    let server = Server::start(&[]);
    let endpoint = Endpoint::from_shared(server.url.clone()).unwrap().origin("http://evil.example".parse().unwrap());
    let mut sessions = SessionServiceClient::new(endpoint.connect().await.unwrap());
    let request = LogInRequest { display_name: "Eve".into(), ..Default::default() };
    let refusal = sessions.log_in(request).await.unwrap_err();
    assert_eq!(refusal.code(), Code::PermissionDenied);
    assert!(refusal.message().contains("--host NAME"), "{refusal}");
    assert_eq!(refusal.metadata().get("reversi-reason").unwrap(), "HOST_NOT_SERVED");
}
