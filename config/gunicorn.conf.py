"""gunicorn in production: `gunicorn --config config/gunicorn.conf.py wsgi:app`, from the checkout.

What `wallet-api up` needs as well lies in the package; here is what an operator may want to change.
"""

from wallet_api.serving.settings import *  # noqa: F403
