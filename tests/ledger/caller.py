"""A caller with its own key, which reads numbers exactly."""

from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient

from tests.ledger.in_process import Row, parsed
from wallet_api.database import Connection
from wallet_api.keys import create_key


@dataclass(frozen=True)
class Caller:
    """Sends requests to the application without a server."""

    client: FlaskClient
    key: str

    @classmethod
    def new(cls, client: FlaskClient, connection: Connection) -> "Caller":
        """Return a caller with an unlimited key."""
        return cls(client, create_key(connection, "caller", rate="1000000/minute"))

    def get(self, path: str, **parameters: Any) -> Row:
        """Return the data of a successful response."""
        document = self.ask(path, **parameters)
        assert document["success"], document
        data: Row = document["data"]
        return data

    def ask(self, path: str, **parameters: Any) -> Row:
        """Return the whole document of any response."""
        query = {name: value for name, value in parameters.items() if value is not None}
        response = self.client.get(
            f"/v1{path}", query_string=query, headers={"Authorization": f"Bearer {self.key}"}
        )
        document: Row = parsed(response.data)
        return document

    def pages(self, path: str, rows: str, **parameters: Any) -> list[Row]:
        """Return the rows of all pages."""
        found: list[Row] = []
        cursor: str | None = ""
        while cursor is not None:
            data = self.get(path, **parameters, cursor=cursor)
            found += data[rows]
            cursor = data["pagination"]["next_cursor"]
            assert data["pagination"]["has_more"] is (cursor is not None)
        return found
