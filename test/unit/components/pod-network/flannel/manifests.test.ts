import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { buildCniInstallHook } from "../../../../../components/pod-network/cni-install-hook.js";
import {
  renderCniConfiguration,
  buildFlannelRbac,
  buildFlannelDaemonSet,
  renderFlannelConfiguration,
} from "../../../../../components/pod-network/flannel/manifests.js";
import {
  getEncapsulationOverhead,
  getPodNetworkTraits,
} from "../../../../../components/pod-network/pod-network-kinds.js";
import {
  containersOf,
  describeAccess,
  lookups,
  type AnyObject,
} from "../../../../support/kubernetes-objects.js";
import { podNetworkOf } from "../../../../support/config/pod-networks.js";
import { argsOf, containerOf, find, objects, podOf } from "../objects.js";

const daemonSet = "DaemonSet kube-flannel";

interface NetworkConfiguration {
  readonly Network: string;
  readonly Backend: { readonly Type: string; readonly VNI: number; Port: number; MTU: number };
}
const configured = (podCidr: string, podMtu: number) =>
  JSON.parse(renderFlannelConfiguration(podCidr, "vxlan", podMtu)) as NetworkConfiguration;

describe("pod-network/flannel", () => {
  describeAccess("flannel", buildFlannelRbac(), [
    "core/nodes: get list watch",
    "core/nodes/status: patch",
  ]);

  it("stays in its own namespace, whose pods are privileged", () => {
    for (const { kind, metadata } of (objects["flannel"] ?? []).filter(
      ({ kind }) => !/^Cluster/.test(kind),
    )) {
      assert.equal(kind === "Namespace" ? metadata.name : metadata.namespace, "kube-flannel", kind);
    }
    assert.deepEqual(find("Namespace", "kube-flannel").metadata.labels, {
      "pod-security.kubernetes.io/enforce": "privileged",
    });
  });

  it("encapsulates the pods' range in VXLAN 1 on the port that the firewall opens", () => {
    const { Network, Backend } = configured("10.60.0.0/16", 1300);
    assert.equal(Network, "10.60.0.0/16");
    assert.equal(Backend.Type, "vxlan");
    assert.equal(Backend.VNI, 1);
    assert.deepEqual(
      getPodNetworkTraits(podNetworkOf("flannel")).passages.map(({ protocol, ports }) => [
        protocol,
        ports,
      ]),
      [["udp", [Backend.Port, Backend.Port]]],
    );
  });

  it("sets the MTU from which flanneld subtracts the tunnel's 50 bytes", () => {
    for (const podMtu of [1230, 1300, 1400, 8900])
      assert.equal(configured("10.244.0.0/16", podMtu).Backend.MTU - 50, podMtu);
  });

  it("routes without a tunnel with host-gw, and takes the MTU of the machines' interface", () => {
    assert.deepEqual(JSON.parse(renderFlannelConfiguration("10.244.0.0/16", "host-gw", 1350)), {
      Network: "10.244.0.0/16",
      Backend: { Type: "host-gw" },
    });
    const { overhead, routedRanges } = getPodNetworkTraits(
      podNetworkOf({ kind: "flannel", backend: "host-gw" }),
    );
    assert.deepEqual([overhead, routedRanges], [0, ["pods"]]);
  });

  it("has a tunnel per IP family, whose headers take 20 more bytes with IPv6", () => {
    const text = renderFlannelConfiguration("10.244.0.0/16", "vxlan", 1280, "fd00:10:244::/56");
    const { IPv6Network, EnableIPv6, Backend } = JSON.parse(text) as NetworkConfiguration &
      Record<string, unknown>;
    assert.deepEqual([EnableIPv6, IPv6Network], [true, "fd00:10:244::/56"]);
    // flannel's devices subtract 50 bytes for both families.
    assert.equal(Backend.MTU - 50, 1280);
    const spec = podNetworkOf("flannel");
    assert.deepEqual(
      [getEncapsulationOverhead(spec, false), getEncapsulationOverhead(spec, true)],
      [50, 70],
    );
  });

  it("passes flanneld both addresses of its node, which the API provides in one value", () => {
    const made = buildFlannelDaemonSet({
      images: { flannel: "flannel", flannelCniPlugin: "plugin" },
      configChecksum: "0",
      dual: true,
    });
    const dual = lookups({ dual: [made as unknown as AnyObject] }).containerOf(
      daemonSet,
      "flanneld",
    );
    const [, , script = "", addresses] = dual.command ?? [];
    assert.equal(addresses, "$(NODE_ADDRESSES)");
    assert.equal(dual.env?.at(-1)?.valueFrom?.fieldRef?.fieldPath, "status.hostIPs");
    const told = execFileSync(
      "sh",
      [
        "-ec",
        script.replace("exec /opt/bin/flanneld", "echo"),
        "10.0.0.7,fd00:10::7",
        ...(dual.args ?? []),
      ],
      { encoding: "utf8" },
    );
    assert.equal(
      told.trim(),
      `--iface=10.0.0.7 --public-ipv6=fd00:10::7 ${(dual.args ?? []).join(" ")}`,
    );
    assert.ok(!dual.args?.some((arg) => arg.startsWith("--iface")));
  });

  it("uses the interface of the node's own address if other interfaces exist", () => {
    assert.ok(argsOf(daemonSet, "flanneld").includes("--iface=$(NODE_ADDRESS)"));
    const { env } = containerOf(daemonSet, "flanneld");
    assert.deepEqual(
      env?.flatMap(({ name, valueFrom: from }) => (from ? [[name, from.fieldRef?.fieldPath]] : [])),
      [
        ["NODE_NAME", "spec.nodeName"],
        ["NODE_ADDRESS", "status.hostIP"],
      ],
    );
  });

  it("has only the capabilities for network changes on its node", () => {
    const rights = containersOf(podOf(daemonSet)).map(({ name, securityContext }) => {
      assert.equal(securityContext?.privileged, undefined);
      assert.equal(securityContext?.allowPrivilegeEscalation, false);
      assert.deepEqual(securityContext.capabilities?.drop, ["ALL"]);
      return [name, ...(securityContext.capabilities.add ?? [])];
    });
    assert.deepEqual(rights, [["install-cni-plugin"], ["flanneld", "NET_ADMIN", "NET_RAW"]]);
  });

  it("installs the plugin before the configuration that makes the kubelet call the plugin", () => {
    const [plugin] = podOf(daemonSet).initContainers ?? [];
    assert.deepEqual(plugin?.command, ["cp", "-f", "/flannel", "/opt/cni/bin/flannel"]);
    const { plugins } = JSON.parse(renderCniConfiguration()) as { plugins: { type: string }[] };
    assert.deepEqual(
      plugins.map(({ type }) => type),
      ["flannel", "portmap"],
    );
    const { data } = find("ConfigMap", "kube-flannel-cfg") as unknown as { data: object };
    const [cniKey, networkKey] = Object.keys(data);
    assert.deepEqual(
      containerOf(daemonSet, "flanneld").lifecycle,
      buildCniInstallHook({
        when: "test -s /run/flannel/subnet.env",
        from: `/etc/kube-flannel/${cniKey ?? ""}`,
        as: "10-flannel.conflist",
      }),
    );
    const args = argsOf(daemonSet, "flanneld");
    assert.ok(args.includes(`--net-config-path=/etc/kube-flannel/${networkKey ?? ""}`));
  });

  it("sets the path of its CNI plugin, and answers only the kubelet", () => {
    const { livenessProbe } = containerOf(daemonSet, "flanneld");
    assert.ok(argsOf(daemonSet, "flanneld").includes("--subnet-file=/run/flannel/subnet.env"));
    const { port, host } = livenessProbe?.httpGet ?? {};
    assert.ok(argsOf(daemonSet, "flanneld").includes(`--healthz-port=${String(port)}`));
    assert.ok(argsOf(daemonSet, "flanneld").includes(`--healthz-ip=${host ?? ""}`));
  });
});
