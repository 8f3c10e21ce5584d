"""Settings of gunicorn in production: `gunicorn --config config/gunicorn.conf.py wsgi:app`, in the checkout.

The settings themselves are in the package, since `wallet-api up` uses them too. Add your own changes below.
"""

from wallet_api.serving.settings import *  # noqa: F403
