"""The connection of PostgreSQL's programs to the database in use, without secrets in their arguments."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from wallet_api.backup.errors import BackupError
from wallet_api.database import Connection
from wallet_api.settings import Settings

# libpq has no environment variables for these: https://www.postgresql.org/docs/current/libpq-envars.html
_OTHER_SECRETS = ("sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")


@dataclass(frozen=True)
class Access:
    """A connection string without a password, and the environment that contains the password."""

    conninfo: str
    environment: Mapping[str, str]


def plain_environment() -> dict[str, str]:
    """Return the environment of this process without the settings of the service, which contain secrets."""
    own = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
    # Error messages are parsed, so they must be in English.
    return own | {"LC_ALL": "C"}


def access_of(url: str, connection: Connection, application_name: str) -> Access:
    """Return the access of a program to the server of `connection`, whose URL is `url`.

    Raises BackupError if the URL contains a secret other than the password.
    """
    parameters = {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
    for name in _OTHER_SECRETS:
        if name in parameters:
            raise BackupError(
                f"DATABASE_URL contains {name}, which cannot be passed to pg_dump and psql secretly. "
                "Use a password, a password file or an unencrypted key file that only you can read."
            )
    environment = plain_environment()
    if "password" in parameters:
        environment["PGPASSWORD"] = str(parameters.pop("password"))
    parameters |= _chosen_host(connection) | {"application_name": application_name}
    return Access(make_conninfo("", **parameters), environment)


def _chosen_host(connection: Connection) -> dict[str, str | int]:
    """Return the host to which the connection is made, if the URL names several; else nothing."""
    given = connection.info.get_parameters()
    if not any("," in given.get(name, "") for name in ("host", "hostaddr", "port")):
        return {}
    chosen: dict[str, str | int] = {"port": connection.info.port}
    if "host" in given:
        chosen["host"] = connection.info.host
    if "hostaddr" in given:
        chosen["hostaddr"] = connection.info.hostaddr
    return chosen
