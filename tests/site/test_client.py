"""A connection to a real broker: with certificates, with passwords, and lost and found again."""

import datetime
import gc
import ipaddress
import subprocess
import warnings

import pytest
from processes import PATIENCE, until

from solah.exceptions import ParameterError
from solah.site.client import PASSWORD, USERNAME, BrokerError, Client, find_broker


def make_certificates(folder):
    """Write an authority's certificate, and ones that it signed for a broker and for us."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    def name_of(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def certificate(subject, key, issuer, issuer_key, is_authority):
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name_of(subject))
            .issuer_name(name_of(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        )
        if not is_authority:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("authority", "broker", "us")}
    for name, key in keys.items():
        made = certificate(name, key, "authority", keys["authority"], name == "authority")
        (folder / f"{name}.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (folder / f"{name}.key").write_bytes(pem)
        (folder / f"{name}.key").chmod(0o644)


def reach(url, seconds=PATIENCE, **options):
    """Connect, say something to ourselves, and return what is heard."""
    heard = []
    client = Client(find_broker(url, **options), "us", lambda *said: heard.append(said))
    client.subscribe(["there"])
    client.start(timeout=seconds)
    client.publish("there", b"hello")
    until(lambda: heard)
    client.stop()
    return heard


@pytest.fixture
def secret_broker(make_broker, tmp_path):
    certificates = tmp_path / "certificates"
    certificates.mkdir(mode=0o755)
    make_certificates(certificates)
    broker = make_broker(
        "allow_anonymous true",
        f"cafile {certificates}/authority.crt",
        f"certfile {certificates}/broker.crt",
        f"keyfile {certificates}/broker.key",
        "require_certificate true",
    )
    return f"mqtts://127.0.0.1:{broker.port}", certificates


def test_certificates_are_checked_on_both_sides(secret_broker):
    url, folder = secret_broker
    ours = {"certificate": str(folder / "us.crt"), "key": str(folder / "us.key")}
    known = str(folder / "authority.crt")
    assert reach(url, authority=known, **ours) == [("there", b"hello")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # paho leaves such a socket to the end
        with pytest.raises(BrokerError, match="certificate verify failed"):
            reach(url, **ours)
        with pytest.raises(BrokerError):
            reach(url, seconds=5.0, authority=known)
        gc.collect()


def test_who_we_are_comes_from_the_environment_or_a_file(
    make_broker, tmp_path, monkeypatch, find_tool
):
    passwords = tmp_path / "passwords"
    command = [find_tool("mosquitto_passwd"), "-b", "-c", str(passwords), "kitchen", "s3cret"]
    subprocess.run(command, check=True, capture_output=True)
    passwords.chmod(0o644)
    broker = make_broker("allow_anonymous false", f"password_file {passwords}")
    with pytest.raises(BrokerError, match="[Nn]ot authori[sz]ed"):
        reach(broker.url, seconds=5.0)
    monkeypatch.setenv(USERNAME, "kitchen")
    monkeypatch.setenv(PASSWORD, "s3cret")
    assert reach(broker.url)
    monkeypatch.setenv(PASSWORD, "wrong")
    with pytest.raises(BrokerError):
        reach(broker.url, seconds=5.0)
    file = tmp_path / "credentials"
    file.write_text("username=kitchen\npassword=s3cret\n", encoding="utf-8")
    assert reach(broker.url, credentials=file)
    assert "s3cret" not in repr(find_broker(broker.url, credentials=file))
    file.write_text("kitchen\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="username=… and password=…"):
        find_broker(broker.url, credentials=file)


def test_what_is_said_while_the_broker_is_away_is_said_later(broker):
    heard = []
    client = Client(find_broker(broker.url), "us", lambda _, payload: heard.append(payload))
    client.subscribe(["there"])
    client.start()
    broker.stop()
    for number in range(20):
        assert client.publish("there", str(number).encode())
    assert client.in_flight == 20
    broker.start()
    until(lambda: set(heard) == {str(number).encode() for number in range(20)})
    until(lambda: client.in_flight == 0)
    client.stop()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost", "mqtt://host:port"),
        ("http://localhost", "mqtt://host:port"),
        ("mqtt://", "mqtt://host:port"),
        ("mqtt://localhost:99999", "mqtt://host:port"),
        ("mqtt://me:secret@localhost", "do not belong on the command line"),
    ],
)
def test_a_wrong_address_is_refused(url, said):
    with pytest.raises(ParameterError, match=said):
        find_broker(url)
