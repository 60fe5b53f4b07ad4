"""An authority for certificates of this machine's loopback address."""

from __future__ import annotations

import ssl
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def loopback(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """For a server, and the file with which a client trusts it."""
    key, ours = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "An authority of a test")])
    authority = _signed(issuer, issuer, ours, ours, x509.BasicConstraints(ca=True, path_length=0))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = _signed(name, issuer, key, ours, alternative)
    trusted, chain = folder / "authority.pem", folder / "server.pem"
    trusted.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context, trusted


def _signed(
    name: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.now(timezone.utc)
    made = x509.CertificateBuilder(
        issuer, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1),
        now + timedelta(days=1),
    )  # fmt: skip
    return made.add_extension(extension, critical=False).sign(by, hashes.SHA256())
