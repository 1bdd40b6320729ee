/**
 * Renders the hook that installs a node's CNI configuration, by which pods get their network
 * (pure).
 */

/** Directory in which containerd looks for CNI configurations. */
export const cniDirectory = "/etc/cni/net.d";

/** Number of checks, 0.2 s apart, after which the container fails and starts again. */
const tries = 300;

/** Arguments of {@link cniInstallHook}. */
export interface CniInstallHookArgs {
  /** Shell command that succeeds when the configuration is complete, so that pods get addresses. */
  readonly when: string;
  readonly from: string;
  /** Name of the file in {@link cniDirectory}. */
  readonly as: string;
}

/**
 * Returns a postStart hook that installs the CNI configuration in one step, when it is complete.
 * Reason: kubelet reports a node as Ready as soon as a configuration exists. A pod that starts
 * before the node's pod range is known fails and is tried again after 10 s. It leaves a bridge
 * without an address, on which the next pod fails, too.
 */
export function cniInstallHook({ when, from, as }: CniInstallHookArgs) {
  const target = `${cniDirectory}/${as}`;
  const script = [
    "try=0",
    `until ${when}; do try=$((try + 1)); [ "$try" -lt ${tries.toString()} ] || exit 1; sleep 0.2; done`,
    // containerd ignores files that end in `.new`.
    `cp ${from} ${target}.new && mv -f ${target}.new ${target}`,
  ].join("\n");
  return { postStart: { exec: { command: ["sh", "-ec", script] } } };
}
