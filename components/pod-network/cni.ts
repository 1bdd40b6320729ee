/** Installs the CNI configuration of a node, by which its pods get their network (pure). */

/** Directory in which containerd looks for CNI configurations. */
export const cniDirectory = "/etc/cni/net.d";

/** Attempts, 0.2 s apart, before the container fails and starts again. */
const tries = 300;

/** Arguments of {@link publishes}. */
export interface Published {
  /** Shell command that succeeds when the configuration is complete, so that pods get addresses. */
  readonly when: string;
  readonly from: string;
  /** Name of the file in {@link cniDirectory}. */
  readonly as: string;
}

/**
 * Returns a hook that installs the configuration in one step, when it is complete. kubelet reports
 * a node as Ready as soon as a configuration exists. Pods that come before the node's pod range is
 * known fail, are tried again after 10 s, and leave a bridge without an address, on which the next
 * pod fails, too.
 */
export function publishes({ when, from, as }: Published) {
  const target = `${cniDirectory}/${as}`;
  const script = [
    "try=0",
    `until ${when}; do try=$((try + 1)); [ "$try" -lt ${tries.toString()} ] || exit 1; sleep 0.2; done`,
    // containerd ignores files with this ending.
    `cp ${from} ${target}.new && mv -f ${target}.new ${target}`,
  ].join("\n");
  return { postStart: { exec: { command: ["sh", "-ec", script] } } };
}
