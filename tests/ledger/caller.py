"""A caller with its own key, which reads numbers exactly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.ledger.in_process import Row, parsed
from wallet_api.api.keys import create_key
from wallet_api.database import Connection

LIST = "/wallets?blockchain=solana&type=kol"


@dataclass(frozen=True)
class Caller:
    """Sends requests to the application without a server."""

    client: FlaskClient
    key: str

    @classmethod
    def new(cls, client: FlaskClient, connection: Connection, name: str = "caller", **terms: Any) -> "Caller":
        """Return a caller with a new key, which is unlimited without `terms` (`rate`, `credits`)."""
        return cls(client, create_key(connection, name, **({"rate": "1000000/minute"} | terms)))

    def send(
        self,
        path: str = LIST,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        **parameters: Any,
    ) -> TestResponse:
        """Return any response."""
        return self.client.open(
            f"/v1{path}",
            method=method,
            query_string={name: value for name, value in parameters.items() if value is not None} or None,
            headers={"Authorization": f"Bearer {self.key}", **(headers or {})},
        )

    def statuses(self, requests: int, path: str = LIST) -> list[int]:
        """Return the statuses of so many requests."""
        return [self.send(path).status_code for _ in range(requests)]

    def document(self, path: str, **parameters: Any) -> Row:
        """Return the whole document of any response."""
        document: Row = parsed(self.send(path, **parameters).data)
        return document

    def get(self, path: str, **parameters: Any) -> Row:
        """Return the data of a successful response."""
        document = self.document(path, **parameters)
        assert document["success"], document
        data: Row = document["data"]
        return data

    def refused(self, path: str, **parameters: Any) -> Row:
        """Return the error of a refusal."""
        document = self.document(path, **parameters)
        assert not document["success"], document
        error: Row = document["error"]
        return error

    def pages(
        self,
        path: str,
        rows: str,
        between: Callable[[int], None] = lambda pages: None,
        **parameters: Any,
    ) -> list[Row]:
        """Return the rows of all pages; after each page `between` gets the number of pages so far."""
        found: list[Row] = []
        cursor: str | None = ""
        pages = 0
        while cursor is not None:
            data = self.get(path, **parameters, cursor=cursor)
            assert len(data[rows]) <= parameters["limit"]
            found += data[rows]
            cursor = data["pagination"]["next_cursor"]
            assert data["pagination"]["has_more"] is (cursor is not None)
            pages += 1
            between(pages)
        return found
