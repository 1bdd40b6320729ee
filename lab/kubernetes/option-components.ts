import type { ImageName } from "../../base/images.js";
import type { Component } from "./component.js";

export type Tags = Readonly<Record<ImageName, string>>;

/** What a cluster runs only when it is asked for. */
export function optionComponents(tags: Tags): Component[] {
  const snapshotter = "github.com/kubernetes-csi/external-snapshotter/v8";
  const metrics = "sigs.k8s.io/metrics-server";
  return [
    {
      name: "external-snapshotter",
      version: tags.csiSnapshotter,
      source: { kind: "module", module: snapshotter },
      programs: {
        "csi-snapshotter": `${snapshotter}/cmd/csi-snapshotter`,
        "snapshot-controller": `${snapshotter}/cmd/snapshot-controller`,
      },
      link: { "main.version": tags.csiSnapshotter },
      expectedSeconds: 60,
    },
    {
      name: "metrics-server",
      version: tags.metricsServer,
      source: { kind: "module", module: metrics },
      programs: { "metrics-server": `${metrics}/cmd/metrics-server` },
      link: { "k8s.io/component-base/version.gitVersion": tags.metricsServer },
      expectedSeconds: 60,
    },
  ];
}
