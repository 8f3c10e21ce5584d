"""gunicorn: its settings and its logs."""
