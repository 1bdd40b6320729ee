/** Parts that controller and node driver of Cinder CSI have in common (pure). */
import { container } from "../../kubernetes-objects/pod-settings.js";
import type { Container } from "../../kubernetes-objects/kubernetes-types.js";

/** Images of controller and node driver. */
export interface BlockStorageImages {
  readonly cinderCsi: string;
  readonly csiAttacher: string;
  readonly csiProvisioner: string;
  readonly csiResizer: string;
  readonly csiSnapshotter: string;
  readonly csiNodeDriverRegistrar: string;
  readonly livenessProbe: string;
}

export const socketDirectory = "/csi";
export const socket = `unix://${socketDirectory}/csi.sock`;
const healthPort = 9808;
/**
 * Seconds in which the driver must answer the liveness sidecar. kubelet waits 2 s longer for the
 * sidecar.
 */
const probeSeconds = 8;

export const socketMount = { name: "socket", mountPath: socketDirectory };

export const healthPorts = [
  { name: "healthz", containerPort: healthPort, protocol: "TCP" },
] satisfies Container["ports"];

export function livenessProbeSidecar(image: string): Container {
  return container({
    name: "liveness-probe",
    image,
    args: [
      `--csi-address=${socketDirectory}/csi.sock`,
      `--health-port=${healthPort.toString()}`,
      // The probe makes the driver call Cinder. With the default of 3 s, a busy machine or cloud
      // would cause a restart of the driver.
      `--probe-timeout=${probeSeconds.toString()}s`,
    ],
    volumeMounts: [socketMount],
    resources: { requests: { cpu: "5m", memory: "10Mi" } },
  });
}

export function healthzProbe() {
  return {
    httpGet: { path: "/healthz", port: "healthz" },
    initialDelaySeconds: 10,
    periodSeconds: 30,
    timeoutSeconds: probeSeconds + 2,
    failureThreshold: 5,
  };
}
