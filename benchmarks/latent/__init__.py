"""Latent spaces for designers: which points decode to what is valid, and search that keeps to them."""
