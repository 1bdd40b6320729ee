"""Nova's driver, and what a compute service reports about the host and its servers."""
