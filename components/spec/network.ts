import { address, doc, list, present, range, range4, record } from "./values.js";

/** Address ranges. They must not overlap each other. */
export const network = record({
  nodes: range4("10.0.0.0/24")
    .default("10.0.0.0/24")
    .meta(doc("refused", "Range of the machines' private network.")),
  pods: range4("10.244.0.0/16")
    .default("10.244.0.0/16")
    .meta(doc("refused", "Range of the pods; each machine gets a /24 of it.")),
  services: range4("10.96.0.0/12")
    .default("10.96.0.0/12")
    .meta(doc("refused", "Range of the services' virtual addresses.")),
  dns: list(address, 0, "a list of name servers")
    .default([])
    .meta(doc("in place", "Name servers given to the machines. Empty: the network's own.")),
}).prefault({});

export const externalNetwork = present("the external network").meta(
  doc(
    "refused",
    "External network, by name or ID: the router's gateway, the API's floating IP and the load balancers' addresses are in it. Its ID instead of its name is no change.",
  ),
);

export const allowedCidrs = list(
  range("203.0.113.0/24"),
  1,
  "the ranges that may reach the API and SSH, like [203.0.113.0/24]",
).meta(doc("in place", "Ranges from which the Kubernetes API and SSH may be reached."));
