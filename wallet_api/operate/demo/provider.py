"""A stand-in for Alchemy's Portfolio API on loopback, so that the demo runs the same code as production."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask, request
from werkzeug.serving import WSGIRequestHandler, make_server

from wallet_api.base.chains import CHAINS
from wallet_api.database import connect, load_sql
from wallet_api.operate.demo.forms import seeded
from wallet_api.operate.demo.tokens import decimals_of, face_of

_NETWORKS = {chain.alchemy_network: chain for chain in CHAINS.values()}
_BALANCES = load_sql(__package__, "balances")


@contextmanager
def serving_balances(database_url: str) -> Iterator[dict[str, str]]:
    """Serve the stand-in from a thread in this block, and yield the settings with which the service uses it.

    A wallet holds what its trades in the ledger have left, and a made-up native balance.
    """
    app = Flask(__name__, static_folder=None)

    @app.post("/demo/assets/tokens/by-address")
    def by_address() -> dict[str, Any]:
        [wallet] = request.json["addresses"]
        return {"data": {"tokens": _rows(database_url, wallet["address"], wallet["networks"][0])}}

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_QuietHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="demo provider", daemon=True)
    thread.start()
    try:
        yield {
            "ALCHEMY_API_KEY": "demo",
            "ALCHEMY_URL": f"http://127.0.0.1:{server.port}",
            **{f"{chain.upper()}_PROVIDER": "demo" for chain in CHAINS},
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _rows(database_url: str, address: str, network: str) -> list[dict[str, Any]]:
    """Return the native balance and those of the tokens, in their smallest units."""
    chain = _NETWORKS[network]
    decimals = decimals_of(chain)
    wallet = {"blockchain": chain.name, "address": address, "decimals": decimals}
    with connect(database_url) as connection:
        held = connection.execute(_BALANCES, wallet).fetchall()
    native = seeded("native", address).randrange(100 * 10**chain.native_decimals)
    rows: list[dict[str, Any]] = [{"network": network, "tokenAddress": None, "tokenBalance": str(native)}]
    for row in held:
        face = face_of(chain, row["mint"])
        facts = {"name": face.name, "symbol": face.symbol, "decimals": decimals}
        balance = {"tokenAddress": row["mint"], "tokenBalance": str(row["units"]), "tokenMetadata": facts}
        rows.append({"network": network} | balance)
    return rows


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""
