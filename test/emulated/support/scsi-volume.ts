import { claimToKeep, kubectlOn } from "../../lab/support/kubernetes/kubectl.js";
import type { EmulatedStack } from "./emulated-stack.js";
import { withHardware, type ImageCopy } from "./own-image.js";

/** Copies a virtual machine image. Machines of the copy have the type q35 and SCSI disks. */
export const withScsiDisks = (base: string, name: string): Promise<ImageCopy> =>
  withHardware(base, name, {
    hw_machine_type: "q35",
    hw_disk_bus: "scsi",
    hw_scsi_model: "virtio-scsi",
  });

/** Writes to a volume of a claim on a machine, calls `check`, then deletes pod and claim. */
export async function writeToClaim(
  stack: EmulatedStack,
  machine: string,
  check: () => Promise<void>,
): Promise<void> {
  const server = stack.serverOf("control-plane-0");
  await claimToKeep(server);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "writer", namespace: "default" },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": `${stack.name}-${machine}` },
      volumes: [{ name: "kept", persistentVolumeClaim: { claimName: "kept" } }],
      containers: [
        {
          name: "writer",
          image: stack.agnhost(),
          args: ["pause"],
          volumeMounts: [{ name: "kept", mountPath: "/kept" }],
        },
      ],
    },
  };
  await kubectlOn(server, `apply -f - <<'END'\n${JSON.stringify(pod)}\nEND\n`);
  await kubectlOn(server, "wait pod/writer --for=condition=Ready --timeout=600s");
  await kubectlOn(server, "exec writer -- sh -c 'echo written >/kept/file'");
  await check();
  await kubectlOn(server, "delete pod writer");
  await kubectlOn(server, "delete pvc kept");
}
