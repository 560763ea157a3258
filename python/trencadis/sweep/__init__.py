"""`trencadis sweep`: speed over sizes and leading dimensions, and where it falls off."""
