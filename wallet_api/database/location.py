"""The location of a database, for people."""

from itertools import zip_longest

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from wallet_api.settings import SettingsError


def location_of(url: str) -> str:
    """Return `NAME on HOST:PORT as USER` for a libpq URI, completed from the PG* environment variables.

    The password is left out. Raises SettingsError if the URI is malformed.
    """
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except psycopg.ProgrammingError:
        # The message of libpq quotes a part of the URI, which may be the password.
        raise SettingsError(
            "DATABASE_URL must be a postgresql:// URI with its special characters escaped"
        ) from None
    defaults = {
        option.keyword.decode(): option.val.decode()
        for option in Conninfo.get_defaults()
        if option.val is not None
    }
    parameters = defaults | given
    user = parameters.get("user", "")
    name = parameters.get("dbname") or user
    if "service" in given:
        return f"{given.get('dbname', 'the database')} of the connection service {given['service']}"
    return f"{name} on {_hosts(parameters)}" + (f" as {user}" if user else "")


def _hosts(parameters: dict[str, str]) -> str:
    hosts = parameters.get("host") or parameters.get("hostaddr")
    if not hosts:
        return "the local socket"
    ports = parameters.get("port", "5432").split(",")
    pairs = zip_longest(hosts.split(","), ports, fillvalue=ports[-1])
    return ", ".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in pairs)
