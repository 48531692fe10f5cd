"""Asynchronous clients. The synchronous ones are generated from them."""
