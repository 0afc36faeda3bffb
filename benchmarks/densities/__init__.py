"""Does a better density make disagreement better? Four densities, how good they are and what they find."""
