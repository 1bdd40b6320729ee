/** Parts that controller and node driver of Cinder CSI have in common (pure functions). */
import { addContainerDefaults } from "../../kubernetes-objects/pod-settings.js";
import type { Container } from "../../kubernetes-objects/kubernetes-types.js";

/** Images of the controller, the node driver and the sidecars. */
export interface BlockStorageImages {
  readonly cinderCsi: string;
  readonly csiAttacher: string;
  readonly csiProvisioner: string;
  readonly csiResizer: string;
  readonly csiSnapshotter: string;
  readonly csiNodeDriverRegistrar: string;
  readonly livenessProbe: string;
}

export const csiSocketDirectory = "/csi";
export const csiSocketUrl = `unix://${csiSocketDirectory}/csi.sock`;
const healthPort = 9808;
/**
 * Number of seconds within which the driver must answer the liveness-probe sidecar. kubelet waits 2
 * s longer for the sidecar's answer.
 */
const probeSeconds = 8;

export const csiSocketMount = { name: "socket", mountPath: csiSocketDirectory };

export const csiHealthPorts = [
  { name: "healthz", containerPort: healthPort, protocol: "TCP" },
] satisfies Container["ports"];

export function buildLivenessProbeSidecar(image: string): Container {
  return addContainerDefaults({
    name: "liveness-probe",
    image,
    args: [
      `--csi-address=${csiSocketDirectory}/csi.sock`,
      `--health-port=${healthPort.toString()}`,
      // For each probe, the driver calls Cinder. With the default of 3 s, a busy machine or cloud
      // would cause a restart of the driver.
      `--probe-timeout=${probeSeconds.toString()}s`,
    ],
    volumeMounts: [csiSocketMount],
    resources: { requests: { cpu: "5m", memory: "10Mi" } },
  });
}

export function buildHealthzProbe() {
  return {
    httpGet: { path: "/healthz", port: "healthz" },
    initialDelaySeconds: 10,
    periodSeconds: 30,
    timeoutSeconds: probeSeconds + 2,
    failureThreshold: 5,
  };
}
