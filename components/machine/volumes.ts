import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { PlannedVolume } from "../plan/volumes.js";

/** A volume of a machine, and what it is for. */
export interface MachineVolume {
  readonly planned: PlannedVolume;
  readonly volume: openstack.blockstorage.Volume;
}

type Device = openstack.types.input.compute.InstanceBlockDevice;

/**
 * What Nova gives to a machine that has volumes: all of them from its first boot on. None is deleted by Nova: each is a resource
 * of its own, which carries the cluster's mark.
 */
export function blockDevices(
  imageId: pulumi.Input<string>,
  volumes: readonly MachineVolume[],
): Device[] {
  const attached = volumes.map(({ planned, volume }): Device => ({
    uuid: volume.id,
    sourceType: "volume",
    destinationType: "volume",
    bootIndex: planned.purpose === "root" ? 0 : -1,
    deleteOnTermination: false,
  }));
  const disk = {
    ...{ uuid: imageId, sourceType: "image", destinationType: "local" },
    ...{ bootIndex: 0, deleteOnTermination: true },
  };
  const boots = volumes.some(({ planned }) => planned.purpose === "root");
  return boots || volumes.length === 0 ? attached : [disk, ...attached];
}
