"""Load balancers as haproxy in network namespaces, and Octavia's provider driver and agent."""
