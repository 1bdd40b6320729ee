"""Images of servers on this host, and the root file systems made from them."""
