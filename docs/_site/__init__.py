"""What the site adds to Sphinx: a file each for what is read from the code and what pages link to."""
