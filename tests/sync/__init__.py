"""Tests of the sync of trades and prices."""
