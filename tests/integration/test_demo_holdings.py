"""The holdings of the demo, from the trades of a wallet over the demo's provider to the response."""

from collections.abc import Callable
from datetime import UTC, datetime

from flask import Flask

from tests.demo_service import running_provider, with_provider
from wallet_api import demo
from wallet_api.database import Connection
from wallet_api.demo.forms import decimal_text
from wallet_api.demo.world import World
from wallet_api.keys import create_key
from wallet_api.settings import Settings


def test_holdings_of_demo_wallets_are_what_their_trading_left(
    settings: Settings, connection: Connection, make_app: Callable[[Settings], Flask]
) -> None:
    world = World(datetime.now(UTC), wallets=24, trades=3_000, days=4)
    demo.load(str(settings.database_url), world)
    key = create_key(connection, "demo")
    # Pages small enough that wallets need several.
    with running_provider(world.portfolio, page_size=5) as url:
        client = make_app(with_provider(settings, url)).test_client()
        for wallet in world.wallet_rows():
            chain, address = wallet["blockchain"], wallet["wallet_address"]
            reply = client.get(
                "/v1/wallets/holdings",
                query_string={"blockchain": chain, "address": address},
                headers={"Authorization": f"Bearer {key}"},
            )
            assert reply.status_code == 200, reply.text
            holdings = (reply.json or {})["data"]["active_holdings"]
            assert holdings["loading"] is False
            native, *tokens = holdings["tokens"]
            portfolio = world.portfolio(chain, address)
            assert native["token_address"] == "native"
            assert native["amount"] == str(portfolio.native)
            assert {
                token["token_address"]: (
                    token["token_name"],
                    token["amount"],
                    token["amount_formatted"],
                    token["decimals"],
                )
                for token in tokens
            } == {
                token.address: (
                    token.name,
                    str(token.units),
                    decimal_text(token.units, token.decimals),
                    token.decimals,
                )
                for token in portfolio.tokens
                if token.units and not token.spam
            }
