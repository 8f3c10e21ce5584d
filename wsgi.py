"""What gunicorn imports: `gunicorn wsgi:app`."""

from wallet_api.app import create_app

app = create_app()
