/** Simulates a control plane in a sandbox whose static pods seem to run. */
import { controlPlaneScripts } from "../../../components/kubeadm/node-scripts.js";
import { controlPlaneMachine, controlPlaneValues } from "./control-plane.js";
import type { Outcome, Sandbox } from "./sandbox.js";

const live =
  'apiServer:\\n  certSANs:\\n  - old.example\\n  extraArgs:\\n  - name: v\\n    value: \\"2\\"\\nclusterName: dev\\nscheduler: {}\\n';

/**
 * Stub of kubeadm. It writes manifests from the cluster configuration in the document, and from the
 * patches to which the document refers. A pod never starts if a flag or patch in its manifest is
 * named `broken`.
 */
const kubeadm = [
  'case "$*" in',
  '"init phase control-plane"*) cp "$6" "$root/document"; file=/etc/kubernetes/manifests/kube-$4.yaml; sed /^---/q "$6" >"$file"',
  'patches=$(sed -n "s/^  directory: //p" "$6"); for patch in "$patches/kube-$4"*; do [ ! -e "$patch" ] || cat "$patch" >>"$file"; done ;;',
  '"upgrade node phase kubelet-config") cp "$root/kubelet-map" /var/lib/kubelet/config.yaml ;;',
  '"init phase upload-config kubelet"*) sed "1,/kind: KubeletConfiguration/d" "$6" >"$root/kubelet-map" ;;',
  '"init phase addon kube-proxy"*) sed "1,/kind: KubeProxyConfiguration/d" "$6" >"$root/proxy-map" ;;',
  "esac",
].join("\n");

const kubectl = [
  'case "$*" in',
  // The API server answers if its manifest does not contain `broken`.
  "*readyz*) grep -q broken /etc/kubernetes/manifests/kube-apiserver.yaml || printf ok ;;",
  "*namespace*) printf 'uid: the-uid\\nclusterName: dev\\n' ;;",
  `*kubeadm-config*) printf "${live}" ;;`,
  '*"replace -f"*) echo "$*" >>"$root/replaced" ;;',
  '*kubelet-config*yaml) echo "kind: ConfigMap" ;;',
  '*kubelet-config*) cat "$root/kubelet-map" ;;',
  '*"configmap kube-proxy"*yaml) echo "kind: ConfigMap" ;;',
  '*"configmap kube-proxy"*) cat "$root/proxy-map" ;;',
  '*"rollout status"*) [ ! -e "$root/stuck" ] || [ -e "$root/replaced" ] ;;',
  '*"get pods"*) echo "false kube-proxy-x" ;;',
  '*logs*) echo "E1122 10:00:00.000000 1 server.go:1] \\"command failed\\" err=\\"unknown mode\\"" ;;',
  "esac",
].join("\n");

/** Stub of crictl. If a manifest changes, the ID of its container also changes. */
const crictl = [
  'name=$(echo "$*" | sed "s/.*\\^//; s/\\\\$.*//")',
  'case "$*" in',
  'logs*) echo "I1122 10:00:00.000000 1 x.go:1] begins"; echo "Error: unknown flag: --broken"; echo "See usage" ;;',
  "*--all*) echo newest; echo former ;;",
  'ps*) file=/etc/kubernetes/manifests/$name.yaml; grep -q broken "$file" || cksum <"$file" ;;',
  "esac",
].join("\n");

export function staticPods(): Sandbox {
  const machine = controlPlaneMachine();
  machine.put("var/lib/stackadm/init.done");
  machine.put("etc/kubernetes/admin.conf", "CONF\n");
  machine.put("etc/kubernetes/pki/ca.crt", "CA\n");
  for (const name of ["apiserver", "controller-manager", "scheduler"])
    machine.put(`etc/kubernetes/manifests/kube-${name}.yaml`, "former\n");
  machine.put("var/lib/kubelet/config.yaml", "former: 1\n");
  machine.put("proxy-map", "former: 1\n");
  for (const [name, body] of Object.entries({ kubeadm, kubectl, crictl })) machine.stub(name, body);
  machine.stub("cp", 'exec /bin/cp "$@"');
  machine.stub("cksum", 'exec /usr/bin/cksum "$@"');
  machine.stub("curl", "printf ok");
  machine.stub(
    "journalctl",
    'echo "E1122 10:00:00.000000 1 run.go:74] \\"command failed\\" err=\\"bad\\""',
  );
  return machine;
}

/** Runs the control plane's scripts as an update, with shorter waits. */
export const converge = (
  machine: Sandbox,
  over: Partial<typeof controlPlaneValues> = {},
  wellFor = 0,
): Outcome =>
  machine.run(
    controlPlaneScripts.map((text) =>
      text
        .replace(
          "stable_seconds=5 start_seconds=180 restore_seconds=240",
          `stable_seconds=${String(wellFor)} start_seconds=1 restore_seconds=1`,
        )
        .replace("proxy_rollout_seconds=300", "proxy_rollout_seconds=1")
        .replace("coredns_seconds=300", "coredns_seconds=1"),
    ),
    { ...controlPlaneValues, ...over },
    "update",
  );

/** Returns a block of ClusterConfiguration with one flag of the API server. */
export const flag = (name: string): string =>
  `apiServer:\n  extraArgs:\n    - name: ${name}\n      value: "1"\n`;

/** Returns the calls of kubeadm. */
export const kubeadmCalls = ({ calls }: Outcome): string[] =>
  calls.filter((call) => call.startsWith("kubeadm "));
