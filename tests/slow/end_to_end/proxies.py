"""Real nginx and Caddy processes with the shipped configuration."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess

import pytest

from tests.debian import install
from tests.services import Server, free_port
from tests.slow.end_to_end.installation import ROOT

NAME = "seamark.example.org"
UPSTREAM = "127.0.0.1:8713"
CERTIFICATES = f"/etc/letsencrypt/live/{NAME}"
NGINX_MAIN = """
{user}
daemon off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {servers}
}}
"""
CADDY_OPTIONS = """
{{
	admin off
	local_certs
	skip_install_trust
	http_port {http_port}
	https_port {port}
}}
"""


def program(name):
    """Return the path of a program; install Debian's package or skip the test."""
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    if shutil.which(name, path=path) is None:
        install(name)
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"NOT RUN: {name} is missing; install it, or run the tests as root")
    return found


class Proxy(Server):
    """A proxy on `port` with a certificate signed by `authority`."""

    def __init__(self):
        super().__init__()
        self.port, self.http_port = free_port(), free_port()
        self.url = f"https://localhost:{self.port}"
        self.certificate, self.key = self.folder / "cert.pem", self.folder / "key.pem"
        self.authority = self.certificate

    def answers(self):
        with socket.socket() as probe:
            is_open = probe.connect_ex(("127.0.0.1", self.port)) == 0
            return is_open and self.authority.exists()

    def make_certificate(self):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes"]
        command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=seamark"]
        command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        command += ["-keyout", str(self.key), "-out", str(self.certificate)]
        subprocess.run(command, capture_output=True, check=True, timeout=60)


class Nginx(Proxy):
    """nginx with these server blocks, by default those that are shipped."""

    def __init__(self, servers=""):
        super().__init__()
        self.servers = servers or (ROOT / "deploy/nginx.conf").read_text()

    def forward_to(self, port):
        changes = {
            "listen 80;": f"listen {self.http_port};",
            "listen 443 ssl": f"listen {self.port} ssl",
            "https://$host$": f"https://$host:{self.port}$",
            f"{CERTIFICATES}/fullchain.pem": str(self.certificate),
            f"{CERTIFICATES}/privkey.pem": str(self.key),
            NAME: "localhost",
            UPSTREAM: f"127.0.0.1:{port}",
        }
        for shipped, ours in changes.items():
            self.servers = self.servers.replace(shipped, ours)
        return self

    def start(self):
        self.make_certificate()
        text = NGINX_MAIN.format(
            # Its workers could not read root's folders otherwise.
            user="user root;" if os.geteuid() == 0 else "",
            folder=self.folder,
            servers=self.servers,
        )
        configuration = self.folder / "nginx.conf"
        configuration.write_text(text)
        self.launch([program("nginx"), "-p", self.folder, "-c", configuration])
        self.wait_until(self.answers)

    def statuses(self):
        """Return the status of each request."""
        lines = (self.folder / "access.log").read_text().splitlines()
        return [int(line.split('"')[2].split()[0]) for line in lines]


class Caddy(Proxy):
    """Caddy with the configuration that is shipped."""

    def forward_to(self, port):
        text = (ROOT / "deploy/Caddyfile").read_text()
        text = text.replace(NAME, "localhost").replace(UPSTREAM, f"127.0.0.1:{port}")
        options = CADDY_OPTIONS.format(http_port=self.http_port, port=self.port)
        (self.folder / "Caddyfile").write_text(options + text)
        self.authority = self.folder / "caddy/pki/authorities/local/root.crt"
        return self

    def start(self):
        caddy = program("caddy")
        home = f"XDG_DATA_HOME={self.folder}"
        configuration = str(self.folder / "Caddyfile")
        command = ["env", home, f"HOME={self.folder}", caddy, "run"]
        self.launch([*command, "--config", configuration, "--adapter", "caddyfile"])
        self.wait_until(self.answers)
