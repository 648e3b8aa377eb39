"""HTTP servers for tests: a tracker, with TLS or without, or another program."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "smk_right"
ME = {
    "user": "ada",
    "scope": "manage",
    "workspaces": [{"slug": "home", "name": "Home", "role": "owner"}],
}


class Site:
    """A server that accepts one token; `answers` replaces the answer of a path."""

    def __init__(self, certificate=None):
        self.answers = {}
        self.asked = []
        self.headers = []
        self.date = None
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                site.headers.append(dict(self.headers))
                status, headers, body = site.answer(self)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def date_time_string(self, timestamp=None):
                return site.date or super().date_time_string(timestamp)

            def log_message(self, *arguments):
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://localhost:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        if path in self.answers:
            return self.answers[path]
        if "*" in self.answers:
            return self.answers["*"]
        if path == "/livez":
            return as_json({"status": "alive"})
        if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            error = {"code": "not_authenticated", "message": "The token is unknown."}
            return as_json({"error": error}, 401)
        if path == "/api/v1/me":
            return as_json(ME)
        return as_json({"error": {"code": "not_found", "message": "No."}}, 404)

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def as_json(content, status=200):
    return status, {"Content-Type": "application/json"}, json.dumps(content).encode()


class Authority:
    """Signs certificates, as a company's own authority does."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "authority.pem"
        self._openssl(
            *("req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=Authority"),
            *("-newkey", "rsa:2048", "-keyout", "authority.key"),
            *("-out", "authority.pem"),
        )

    def certificate(self, name, *, names="DNS:localhost,IP:127.0.0.1", days=2):
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n")
        self._openssl(
            *("req", "-nodes", "-newkey", "rsa:2048", "-subj", f"/CN={name}"),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-days", str(days)),
            *("-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"),
            *("-extfile", extensions.name, "-out", f"{name}.pem"),
        )
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def _openssl(self, *arguments):
        subprocess.run(
            ["openssl", *arguments], cwd=self.folder, check=True, capture_output=True
        )
