import type { ImageName } from "../../base/images.js";
import type { Component } from "./component.js";

export type Tags = Readonly<Record<ImageName, string>>;

/** What a cluster runs only when it is asked for. */
export function optionComponents(tags: Tags): Component[] {
  const snapshotter = "github.com/kubernetes-csi/external-snapshotter/v8";
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
  ];
}
