import type { Evidence } from "../../../evidence/record.js";

/** Evidence in the form that a test of the lab tier records. */
export const sampleEvidence: Evidence = {
  row: "topology/five",
  machine: "container",
  image: "debian-12",
  seconds: 412,
  overrides: ["kubernetes.packages", "kubernetes.registry"],
  plugins: {
    engine: "built",
    nodejs: "stand-in",
    openstack: "built",
    kubernetes: "stand-in",
    command: "stand-in",
  },
  octavia: "lab",
};
