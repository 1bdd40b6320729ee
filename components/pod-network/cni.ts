/** How a node gets the configuration by which its pods get their network (pure). */

/** Where containerd looks for it. */
export const cniDirectory = "/etc/cni/net.d";

/** Tries of 0.2 s each before the container counts as failed and starts again. */
const tries = 300;

/** Arguments of {@link publishes}. */
export interface Published {
  /** A shell command that succeeds when pods can have addresses by the configuration. */
  readonly when: string;
  readonly from: string;
  /** Name of the file in {@link cniDirectory}. */
  readonly as: string;
}

/**
 * Puts the configuration in place as a whole, and only when it is complete. kubelet takes a node for ready as soon as there is
 * one: pods that come before the program knows their range fail, are tried again 10 s later, and leave a bridge without an address,
 * on which the next one fails too.
 */
export function publishes({ when, from, as }: Published) {
  const target = `${cniDirectory}/${as}`;
  const script = [
    "try=0",
    `until ${when}; do try=$((try + 1)); [ "$try" -lt ${tries.toString()} ] || exit 1; sleep 0.2; done`,
    // containerd reads no file of this ending.
    `cp ${from} ${target}.new && mv -f ${target}.new ${target}`,
  ].join("\n");
  return { postStart: { exec: { command: ["sh", "-ec", script] } } };
}
