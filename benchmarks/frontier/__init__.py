"""What a detector finds for what it costs: quality of operating points of one fit, on training data alone."""
