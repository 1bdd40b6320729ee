/** Extends timeouts, probes and leader election for slow machines. */
import type * as pulumi from "@pulumi/pulumi";

interface Container {
  readonly args?: readonly unknown[];
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
}
interface Probe {
  readonly failureThreshold?: number;
}
interface PodTemplate {
  readonly spec: { readonly containers: readonly Container[] };
}

/** Default of `failureThreshold` in Kubernetes. */
const usualFailures = 3;

/**
 * Pattern of the flags for the three durations of client-go's leader election. All add-ons use
 * these flag names.
 */
const leaderElectionFlag =
  /^(--leader-elect(?:ion)?-(?:lease-duration|renew-deadline|retry-period)=)(\d+)s$/;

const slowArgument = (argument: unknown, factor: number): unknown =>
  typeof argument === "string"
    ? argument.replace(
        leaderElectionFlag,
        (_, flag: string, seconds: string) => `${flag}${String(Number(seconds) * factor)}s`,
      )
    : argument;

/**
 * Returns the container with longer limits: its probes may fail `factor` times as often, and the
 * durations of its leader election are `factor` times as long.
 */
export function extendContainerTimeouts<Spec extends Container>(
  container: Spec,
  factor: number,
): Spec {
  const probes = (["livenessProbe", "startupProbe"] as const).flatMap((name) => {
    const probe = container[name];
    return probe
      ? [[name, { ...probe, failureThreshold: (probe.failureThreshold ?? usualFailures) * factor }]]
      : [];
  });
  return {
    ...container,
    ...(container.args && { args: container.args.map((one) => slowArgument(one, factor)) }),
    ...(Object.fromEntries(probes) as object),
  };
}

const workloads = ["kubernetes:apps/v1:DaemonSet", "kubernetes:apps/v1:Deployment"];

function slowWorkload(props: pulumi.Inputs, factor: number): pulumi.Inputs {
  const spec = props["spec"] as { readonly template: PodTemplate };
  const { template } = spec;
  const containers = template.spec.containers.map((one) => extendContainerTimeouts(one, factor));
  return {
    ...props,
    spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } },
  };
}

function longer(
  { create, update, delete: remove }: pulumi.CustomTimeouts,
  factor: number,
): pulumi.CustomTimeouts {
  const times = Object.entries({ create, update, delete: remove }).flatMap(([name, time]) =>
    time === undefined
      ? []
      : [[name, time.replaceAll(/\d+/g, (number) => String(Number(number) * factor))] as const],
  );
  return Object.fromEntries(times);
}

/**
 * Returns component options for machines that are `factor` times slower than usual. The options
 * multiply the timeouts, allowed probe failures and leader election durations of all children by
 * `factor`.
 */
export function createSlowMachineOptions(factor: number): pulumi.ComponentResourceOptions {
  if (factor === 1) return {};
  const transformation: pulumi.ResourceTransformation = ({ type, props, opts }) => ({
    props: workloads.includes(type) ? slowWorkload(props, factor) : props,
    opts: opts.customTimeouts
      ? { ...opts, customTimeouts: longer(opts.customTimeouts, factor) }
      : opts,
  });
  return { transformations: [transformation] };
}
