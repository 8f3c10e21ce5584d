"""The file of rules of webhooks, and one try to send a message to a target of it."""

import re
import shutil
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.lib.nginx import certificate
from tests.lib.processes import run_command, wallet_api
from tests.lib.receiver import SECRET, Receiver, speaking
from tests.lib.waiting import calm_seconds
from tests.notify.webhooks import faults_of, rules_of
from wallet_api.notify.rules_file import RulesError, RulesFile
from wallet_api.notify.sending import DEADLINE_SECONDS, is_public, send_message
from wallet_api.notify.targets import Target
from wallet_api.settings import Settings

FOREVER_SECONDS = 240


@pytest.fixture
def target(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Target]:
    """The target of a file with this address, which may be private."""

    def make(url: str, own: str = "") -> Target:
        # Tests make several at once, in threads.
        file = tmp_path_factory.mktemp("rules") / "rules.toml"
        file.write_text(rules_of(url, own))
        return RulesFile(file, allow_private=True).targets["bot"]

    return make


def outcome(target: Target, *, allow_private: bool = True) -> str:
    """Why a message was not received; empty if it was."""
    return send_message(target, "msg_1", "{}", allow_private=allow_private).failure


def test_a_file_of_rules_that_is_missing_is_named_once(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(RulesError, match=r"^[^:]*missing\.toml: No such file or directory$"):
        RulesFile(missing)


def test_all_faults_of_the_rules_are_reported_together(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        '[targets.a]\nurl = "http://example.org"\nsecrets = ["short"]\nca_file = "/none.pem"\n'
        '[rules.b]\ntargets = ["none"]\nmin_value = -1\n[rules.c]\ntargets = ["none"]\naddress = "@list"\n'
    )
    result = run_command("notify", "--rules", file, settings=settings)
    assert result.exit_code == 1
    places = (
        "targets.a.url",
        "targets.a.secrets",
        "targets.a.ca_file",
        "rules.b.min_value",
        "'none'",
        "'@list'",
    )
    for fault in places:
        assert fault in str(result.exception or result.output) + result.output


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://",
            "https://host:99999/",
            "https://host:x/",
            "https://host:0/",
            "https://[::1/",
            "//host/",
            "https://./",
        ),
        *(
            "https://user@host/",
            "https://:password@host/",
            "https://host/a b",
            "https://host/ü",
            "ftp://host/",
        ),
        *("https://host/\\n", "https://\\u0000host/", "http://host/"),
    ],
)
def test_an_address_that_no_message_can_be_sent_to_is_a_fault(tmp_path: Path, url: str) -> None:
    assert "targets.bot.url: must be an HTTPS address" in faults_of(tmp_path / "rules.toml", rules_of(url))


@pytest.mark.parametrize(
    "template",
    [
        *(
            "${value}",
            '{"text": ${value}}',
            '{"text": "${value}"',
            '{"text": "\\${value}"}',
            "{'a': '${symbol}'}",
        ),
        *('{"a": "\\u00${value}"}', '{"text": "${none}"}', '{"text": "$"}', "", "text"),
    ],
)
def test_a_template_that_makes_no_json_of_any_name_is_a_fault(tmp_path: Path, template: str) -> None:
    text = rules_of("https://host/", f"template = '''{template}'''\n")
    assert "targets.bot.template: " in faults_of(tmp_path / "rules.toml", text)


def test_names_that_cannot_stand_in_a_log_line_are_faults(tmp_path: Path) -> None:
    text = rules_of("https://host/", rules='[rules."a\\nb"]\ntargets = ["bot"]\n[lists."a b"]\n')
    faults = faults_of(tmp_path / "rules.toml", text)
    assert "must be 1 to 64 letters" in faults


def test_no_fault_shows_a_secret(tmp_path: Path) -> None:
    chat = "https://chat.example.com/T0K3N"
    text = rules_of(f"{chat} ", rules=f'[rules.all]\ntargets = ["{chat}"]\n').replace("whsec_", "whse_")
    faults = faults_of(tmp_path / "rules.toml", text)
    assert faults.count("\n") == 2, faults
    assert "T0K3N" not in faults
    assert SECRET.removeprefix("whsec_") not in faults


def test_private_addresses_are_refused_and_a_test_message_says_so(
    receiver: Receiver, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(rules_of("https://localhost/"))
    refused = run_command("notify", "test", "all", "--rules", file, settings=settings)
    assert (refused.exit_code, "its address is not public" in refused.output) == (1, True)
    file.write_text(rules_of(f"{receiver.url}/"))
    sent = run_command("notify", "test", "all", "--rules", file, "--allow-private", settings=settings)
    assert sent.output == "bot: received\n"
    assert (receiver.received[0].document["type"], receiver.received[0].is_signed) == ("test", True)


SPELLINGS = (
    *("localhost", "localhost.", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "169.254.169.254"),
    *(
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:a00:1]",
        "[::]",
        "[fd00:ec2::254]",
        "a" * 64,
    ),
)


def test_a_private_address_in_any_spelling_is_refused(settings: Settings, tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(len(SPELLINGS))]
    file = tmp_path / "rules.toml"
    targets = "".join(
        f'[targets.{name}]\nurl = "https://{host}/"\nsecrets = ["{SECRET}"]\n'
        for name, host in zip(names, SPELLINGS, strict=True)
    )
    file.write_text(f"{targets}[rules.all]\ntargets = {names}\n")
    # In its own process, names are resolved.
    process = wallet_api("notify", "test", "all", "--rules", str(file), settings=settings)
    lines = process.communicate()[0].splitlines()
    assert (process.returncode, len(lines)) == (1, len(SPELLINGS))
    for line in lines:
        # Some of the resolvers have no such name.
        assert line.endswith(("its address is not public; see --allow-private", "its name has no address"))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "::ffff:10.0.0.1", "::10.0.0.1", "fec0::1"),
        *("192.0.0.192", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "64:ff9b:1::1"),
        *("2002:808:808::", "2001:0:808:808::", "2001:db8::1", "198.18.0.1", "5f00::1"),
    ],
)
def test_an_address_that_is_not_public_is_none(address: str) -> None:
    assert not is_public(address)


def test_public_addresses_are_public() -> None:
    public = ("8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8")
    assert all(map(is_public, public))


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let a name have other addresses each time; return the names that were resolved."""

    def set_addresses(*answers: list[str]) -> list[str]:
        resolved: list[str] = []
        original = socket.getaddrinfo

        def getaddrinfo(host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
            if re.fullmatch(r"[0-9.]+", host):
                # An address is no name.
                return original(host, port, *arguments, **options)
            resolved.append(host)
            addresses = answers[min(len(resolved), len(answers)) - 1]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return resolved

    return set_addresses


def test_each_address_of_a_name_is_tried_and_none_is_private(
    receiver: Receiver, target: Callable[..., Target], resolve: Callable[..., list[str]]
) -> None:
    port = receiver.url.rpartition(":")[2]
    resolve(["127.0.0.2", "127.0.0.1"])
    assert outcome(target(f"http://bot.example.com:{port}/")) == ""
    resolve(["8.8.8.8", "127.0.0.1"])
    assert "not public" in outcome(target(f"http://bot.example.com:{port}/"), allow_private=False)
    assert len(receiver.received) == 1


def test_a_name_is_resolved_once_for_each_try(
    target: Callable[..., Target], resolve: Callable[..., list[str]], receiver: Receiver
) -> None:
    port = receiver.url.rpartition(":")[2]
    resolved = resolve(["127.0.0.2"], ["127.0.0.1"])
    assert outcome(target(f"http://bot.example.com:{port}/")) == "no connection"
    assert (resolved, receiver.received) == (["bot.example.com"], [])


def test_certificates_are_verified_by_the_name(target: Callable[..., Target], tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    certificate(tmp_path)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(tmp_path / "fullchain.pem", tmp_path / "privkey.pem")
    names: list[str | None] = []
    own.sni_callback = lambda connection, name, context: names.append(name)  # type: ignore[assignment]

    def speak(plain: socket.socket) -> None:
        with suppress(OSError), own.wrap_socket(plain, server_side=True) as connection:
            # What closes with a part unread resets the connection.
            while not connection.recv(8192).endswith(b"{}"):
                pass
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with speaking(speak) as port:
        trusted = f'ca_file = "{tmp_path / "fullchain.pem"}"\n'
        assert outcome(target(f"https://localhost:{port}/", trusted)) == ""
        assert outcome(target(f"https://localhost.:{port}/", trusted)) == ""
        assert outcome(target(f"https://localhost:{port}/")) == "its certificate is not valid"
        assert outcome(target(f"https://127.0.0.1:{port}/", trusted)) == "its certificate is not valid"
    assert names == ["localhost", "localhost", "localhost", None]


def drip(text: bytes, rest: bytes, ended: list[bytes]) -> Callable[[socket.socket], None]:
    """Send a text, then others again and again."""

    def speak(connection: socket.socket) -> None:
        connection.sendall(text)
        for _ in range(FOREVER_SECONDS * 4):
            time.sleep(0.25)
            connection.sendall(rest)
        ended.append(text)

    return speak


def test_a_try_ends_with_its_deadline_whatever_is_sent(target: Callable[..., Target]) -> None:
    ended: list[bytes] = []
    sent = ((b"", b""), (b"HTTP/1.1 ", b"0"), (b"HTTP/1.1 103 Early Hints\r\n", b"a: b\r\n"))
    slow = [drip(*texts, ended) for texts in sent]

    def seconds(scheme: str, speak: Callable[[socket.socket], None]) -> tuple[str, float]:
        with speaking(speak) as port:
            own = target(f"{scheme}://127.0.0.1:{port}/")
            started = calm_seconds()
            return outcome(own), calm_seconds() - started

    # All rules are written to the same file before they are read.
    with ThreadPoolExecutor() as executor:
        made = [executor.submit(seconds, "http", speak) for speak in slow]
        made.append(executor.submit(seconds, "https", slow[0]))
        for failure, elapsed in (each.result() for each in made):
            assert failure in ("no response in time", "no response of HTTP")
            assert elapsed < DEADLINE_SECONDS + 10
    # They would have gone on.
    assert ended == []


def test_no_more_than_the_status_of_a_response_is_read(target: Callable[..., Target]) -> None:
    sent = [0]

    def endless(status: bytes) -> Callable[[socket.socket], None]:
        def speak(connection: socket.socket) -> None:
            connection.recv(8192)
            connection.sendall(status)
            while True:
                sent[0] += connection.send(b"x" * 65536)

        return speak

    for status, failure in (
        (b"HTTP/1.1 200 OK\r\n\r\n", ""),
        (b"HTTP/1.1 302 Found\r\nlocation: http://[\r\n\r\n", "HTTP 302"),
        (b"HTTP/1.1 500 Error\r\ncontent-encoding: gzip\r\n\r\n", "HTTP 500"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", ""),
        (b"SSH-2.0", "no response of HTTP"),
    ):
        with speaking(endless(status)) as port:
            started = calm_seconds()
            assert outcome(target(f"http://127.0.0.1:{port}/")) == failure
            assert calm_seconds() - started < 5
    assert sent[0] < 64 * 1024 * 1024
