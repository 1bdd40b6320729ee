import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { PlannedVolume } from "../plan/volumes.js";

/** Planned volume of a machine, with the resource that creates it. */
export interface MachineVolume {
  readonly planned: PlannedVolume;
  readonly volume: openstack.blockstorage.Volume;
}

type Device = openstack.types.input.compute.InstanceBlockDevice;

/**
 * Returns the block devices of a server with volumes. The server has all volumes from its first
 * boot. Nova does not delete the volumes together with the server, because each volume is a
 * separate Pulumi resource.
 */
export function buildBlockDevices(
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
    uuid: imageId,
    sourceType: "image",
    destinationType: "local",
    bootIndex: 0,
    deleteOnTermination: true,
  };
  const boots = volumes.some(({ planned }) => planned.purpose === "root");
  return boots || volumes.length === 0 ? attached : [disk, ...attached];
}
