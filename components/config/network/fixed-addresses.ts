import type { z } from "zod";
import type { GroupAtPath, MachineGroupSpec } from "../machines/group-options.js";
import { getFirstHostAddress, isHostAddressIn } from "../../../base/ip-addresses.js";

interface Written {
  readonly groups: readonly GroupAtPath<Pick<MachineGroupSpec, "nodes">>[];
  readonly network: { readonly nodes: string; readonly existing?: object | undefined };
  readonly endpoint?: { readonly kind: string; readonly address?: string | undefined } | undefined;
}

/**
 * Reports fixed addresses of machines and of the endpoint in two cases: the address is outside
 * `network.nodes`, or the router, the endpoint or another machine already has it.
 */
export function findFixedAddressConflicts({
  groups,
  network,
  endpoint,
}: Written): z.core.$ZodRawIssue[] {
  const taken = new Map<string, string>();
  // The address of the gateway in an existing subnet is not known here.
  if (!network.existing) taken.set(getFirstHostAddress(network.nodes), "the router");
  const machines = groups.flatMap(({ path, group }) =>
    Object.entries(group.nodes).flatMap(([position, { address }]) =>
      address === undefined ? [] : [{ path: [...path, "nodes", position, "address"], address }],
    ),
  );
  const written = [
    ...(endpoint?.address === undefined
      ? []
      : [{ path: ["endpoint", "address"], address: endpoint.address }]),
    ...machines,
  ];
  return written.flatMap(({ path, address }) => {
    const owner = taken.get(address);
    taken.set(address, path.join("."));
    const wrong = (message: string): z.core.$ZodRawIssue[] => [
      { code: "custom", path, input: address, message: `${address} ${message}` },
    ];
    if (!isHostAddressIn(network.nodes, address))
      return wrong(
        `is no machine's address in network.nodes (${network.nodes}); choose another one, or leave it out`,
      );
    return owner === undefined ? [] : wrong(`is taken by ${owner}; write another one`);
  });
}
