"""Unit tests of load balancers and of Octavia's driver and agent."""
