"""Where we stand: one figure of ours, the best simple baseline and the best published number."""
