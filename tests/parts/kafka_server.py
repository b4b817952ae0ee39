"""Apache Kafka as a process of ours: one node, KRaft mode, by its jars, nothing installed."""

from __future__ import annotations

import fcntl
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1] / "kafka"
LIBS = HERE / "libs"
POM = HERE / "pom.xml"
COMPLETE = LIBS / "complete"  # a copy of the POM that they were brought for
START_TIMEOUT = 60.0  # seconds; two on a quiet machine
MAVEN_TIMEOUT = 600.0
JVM = ("-Xmx512m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # up twice as soon

# Logging to stderr: little, but the line that says "ready" must be among it.
LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
)

SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.segment.delete.delay.ms": "1000",
}


class NoKafkaError(Exception):
    """Nothing on this machine can be a Kafka for the tests; the message says what was tried."""


@dataclass(frozen=True, slots=True)
class Users:
    """Who may log in at the SASL listeners (all three mechanisms), and the CA of the TLS one."""

    cafile: Path
    name: str = "sendonce"
    password: str = "open sesame"


@dataclass
class Server:
    """The process: one directory, fixed ports, the same over restarts."""

    directory: Path
    ports: Mapping[str, int]
    settings: Mapping[str, str]
    users: Users | None = None
    process: subprocess.Popen[bytes] | None = None

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    def prepare(self) -> None:
        lines = [f"{name}={value}" for name, value in self.settings.items()]
        (self.directory / "server.properties").write_text("\n".join(lines))
        scram = [] if self.users is None else _scram(self.users)
        self._run("kafka.tools.StorageTool", "format", "-c", "server.properties",
                  "-t", "c2VuZG9uY2UtdGVzdHMtMQ", *scram)  # fmt: skip

    def start(self) -> None:
        """Return when the broker serves; raise NoKafkaError with its last words otherwise.

        A broker that runs already is left alone.
        """
        if self.process is not None:
            return
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                self._java("kafka.Kafka", "server.properties"), cwd=self.directory,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + START_TIMEOUT
        while "Kafka Server started" not in self._last_words():
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise NoKafkaError(f"Kafka did not start:\n{self._last_words()}")
            time.sleep(0.05)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    @property
    def _log(self) -> Path:
        return self.directory / "log"

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]

    def _java(self, main: str, *args: str) -> list[str]:
        return ["java", *JVM, *LOGGING, "-cp", f"{LIBS}/*", main, *args]

    def _run(self, main: str, *args: str) -> None:
        done = subprocess.run(
            self._java(main, *args), cwd=self.directory, capture_output=True, check=False
        )
        if done.returncode:
            raise NoKafkaError(f"{main}: {(done.stdout + done.stderr).decode(errors='replace')}")


def prepare_server(
    *, sasl: bool, config: Mapping[str, str], relays: Mapping[int, int] | None = None
) -> Server:
    """Return a formatted server, not yet started.

    `relays`: more ports to listen at -> the port that clients are told to come to instead.
    """
    _bring_jars()
    directory = Path(tempfile.mkdtemp(prefix="sendonce-kafka-"))
    try:
        server = _server(directory, sasl=sasl, config=config, relays=relays or {})
        server.prepare()
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return server


def _server(
    directory: Path, *, sasl: bool, config: Mapping[str, str], relays: Mapping[int, int]
) -> Server:
    names = ["PLAINTEXT", "CONTROLLER", *(["SASL_PLAINTEXT", "SASL_SSL"] if sasl else [])]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    relayed = {f"RELAY{number}": port for number, port in enumerate(relays)}
    told = {**ports, **{name: relays[port] for name, port in relayed.items()}}
    listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in {**ports, **relayed}.items()}
    public = {name: f"{name}://127.0.0.1:{told[name]}" for name in told if name != "CONTROLLER"}
    settings = {
        **SETTINGS,
        "listeners": ",".join(listeners.values()),
        "advertised.listeners": ",".join(public.values()),
        "listener.security.protocol.map": ",".join(
            f"{name}:{name if name.startswith('SASL') else 'PLAINTEXT'}" for name in listeners
        ),
        "controller.quorum.voters": f"1@127.0.0.1:{ports['CONTROLLER']}",
        "log.dirs": str(directory / "data"),
    }
    users = _users(directory) if sasl else None
    if users is not None:
        settings |= _sasl(directory, users)
    return Server(directory, ports, {**settings, **config}, users)


def _bring_jars() -> None:
    """Fetch the jars once; other test runs on this machine wait for the first."""
    if not shutil.which("java"):
        raise NoKafkaError("no Java")
    with POM.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _have_jars():
            return
        if not shutil.which("mvn"):
            raise NoKafkaError("no Maven to bring the broker's jars")
        _maven()


def _have_jars() -> bool:
    return COMPLETE.exists() and COMPLETE.read_bytes() == POM.read_bytes()


def _maven() -> None:
    shutil.rmtree(LIBS, ignore_errors=True)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={LIBS}"]
    done = subprocess.run(
        command, cwd=HERE, capture_output=True, check=False, timeout=MAVEN_TIMEOUT
    )
    if done.returncode:
        raise NoKafkaError(f"Maven: {done.stdout.decode(errors='replace')[-2000:]}")
    shutil.copyfile(POM, COMPLETE)


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _users(directory: Path) -> Users:
    import trustme  # noqa: PLC0415 - only one test wants certificates

    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(directory / "ca.pem")
    chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
    (directory / "server.pem").write_bytes(_pkcs8(certificate.private_key_pem.bytes()) + chain)
    return Users(directory / "ca.pem")


def _pkcs8(pem: bytes) -> bytes:
    """The broker reads private keys in PKCS#8 only."""
    from cryptography.hazmat.primitives import serialization as form  # noqa: PLC0415 - only one test wants certificates

    key = form.load_pem_private_key(pem, None)
    return key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def _sasl(directory: Path, users: Users) -> dict[str, str]:
    plain = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'user_{users.name}="{users.password}";'
    )
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    mechanisms = {"plain": plain, "scram-sha-256": scram, "scram-sha-512": scram}
    return {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(directory / "server.pem"),
        **{
            f"listener.name.{listener}.{name}.sasl.jaas.config": value
            for listener in ("sasl_plaintext", "sasl_ssl")
            for name, value in mechanisms.items()
        },
    }


def _scram(users: Users) -> list[str]:
    return [
        part
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for part in ("-S", f"{mechanism}=[name={users.name},password={users.password}]")
    ]
