import { Address4 } from "ip-address";

const limits = (range: string): readonly [bigint, bigint] => {
  const address = new Address4(range);
  return [address.startAddress().bigInt(), address.endAddress().bigInt()];
};

/** Whether two IPv4 ranges have an address in common. */
export function overlaps(one: string, other: string): boolean {
  const [first, last] = limits(one);
  const [otherFirst, otherLast] = limits(other);
  return first <= otherLast && otherFirst <= last;
}

/** Whether an address can be a machine's in the range: its first belongs to the network, its last is the broadcast. */
export function isHostOf(range: string, address: string): boolean {
  const [first, last] = limits(range);
  const [it] = limits(address);
  return first < it && it < last;
}

/** How many machines get a range for their pods: kube-controller-manager gives each a /24. */
export function machinesWithPods(pods: string): number {
  const { subnetMask } = new Address4(pods);
  return subnetMask > 24 ? 0 : 2 ** (24 - subnetMask);
}

/** The address of the `kubernetes` service: the first of the range, which kubeadm puts in the API's certificate. */
export function firstServiceAddress(services: string): string {
  return Address4.fromBigInt(limits(services)[0] + 1n).address;
}

/** The zone of the machine at `position`: zones in turn, or none when Nova may choose. */
export function zoneAt(zones: readonly string[], position: number): string | undefined {
  return zones.length === 0 ? undefined : zones[position % zones.length];
}
