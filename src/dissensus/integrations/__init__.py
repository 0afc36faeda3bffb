"""The detector where people already are: one module a package, imported only by whoever has that package."""
