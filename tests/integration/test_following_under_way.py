"""Feeds are followed while imports and removals change the ledger at once, and are killed."""

from collections.abc import Callable
from dataclasses import replace

from flask import Flask

from tests.ledger.contended import Contended
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings


def test_followers_end_with_the_trades_of_a_ledger_that_many_change_at_once(
    settings: Settings, make_app: Callable[[Settings], Flask], connection: Connection
) -> None:
    key = create_key(connection, "follower", rate="1000000/minute")
    own = replace(settings, answer_ttl_seconds=0)
    contended = Contended(str(settings.database_url), [make_app(own), make_app(own)], key)
    contended.run(seconds=8)
    done = contended.done
    # Else this test has seen nothing.
    assert min(done[name] for name in ("imports", "removals", "wallets removed", "pages", "kills")) >= 3, done
    assert done["changes"] > 100, done
