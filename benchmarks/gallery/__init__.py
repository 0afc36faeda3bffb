"""The examples, run as they are: what they print and draw is what the site's gallery shows."""
