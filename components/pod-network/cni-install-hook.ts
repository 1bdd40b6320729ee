/**
 * Renders the hook that installs a node's CNI configuration. Pods get their network from this
 * configuration (pure functions).
 */

/** Directory in which containerd looks for CNI configurations. */
export const cniConfigDirectory = "/etc/cni/net.d";

/**
 * Maximum number of checks, at intervals of 0.2 s. If all fail, the container fails and restarts.
 */
const tries = 300;

/** Arguments of {@link buildCniInstallHook}. */
export interface CniConfigurationHookArgs {
  /** Shell command that succeeds when the configuration is complete. */
  readonly when: string;
  readonly from: string;
  /** Name of the installed file in {@link cniConfigDirectory}. */
  readonly as: string;
  /** Shell commands that run after the installation. @default none */
  readonly andThen?: string | undefined;
}

/**
 * Returns a postStart hook that waits until the CNI configuration is complete and then installs it
 * in one step. kubelet reports a node as Ready as soon as a configuration exists. With a
 * configuration that lacks the node's pod CIDR, the first pod would fail, and kubelet would retry
 * only after 10 s. The first pod would also leave a bridge without an address, and the next pod on
 * this bridge would fail, too.
 */
export function buildCniInstallHook({ when, from, as, andThen }: CniConfigurationHookArgs) {
  const target = `${cniConfigDirectory}/${as}`;
  const script = [
    "try=0",
    `until ${when}; do try=$((try + 1)); [ "$try" -lt ${tries.toString()} ] || exit 1; sleep 0.2; done`,
    // containerd ignores files whose names end in `.new`.
    `cp ${from} ${target}.new && mv -f ${target}.new ${target}`,
    ...(andThen === undefined ? [] : [andThen]),
  ].join("\n");
  return { postStart: { exec: { command: ["sh", "-ec", script] } } };
}
