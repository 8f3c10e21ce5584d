"""The yardstick: a Flask view that returns a constant dictionary, and nothing around it."""

from flask import Flask

app = Flask(__name__)


@app.get("/")
def constant() -> dict[str, object]:
    """An answer of the size of a volume answer."""
    return {
        "success": True,
        "data": {
            "blockchain": "solana",
            "type": "kol",
            "mode": "volume",
            "volume": 1234.567890123,
            "volume_usd": 234567.8901,
            "currency": "SOL",
            "time_window_seconds": 3600,
        },
    }
