import assert from "node:assert/strict";
import {
  cniConfigDirectory,
  buildCniInstallHook,
} from "../../../../../components/pod-network/cni-install-hook.js";
import {
  renderCniConfiguration,
  buildKubeRouterRbac,
  buildKubeRouterDaemonSet,
} from "../../../../../components/pod-network/kube-router/manifests.js";
import { buildBgpWatch } from "../../../../../components/pod-network/kube-router/bgp-watch.js";
import { describeAccess, lookups, type AnyObject } from "../../../../support/kubernetes-objects.js";
import { argsOf, cloudRoutes, containerOf, find } from "../objects.js";

const router = "DaemonSet kube-router";

describe("pod-network/kube-router", () => {
  describeAccess("kube-router", buildKubeRouterRbac(), [
    "core/namespaces: get list watch",
    "core/nodes: get list watch",
    "core/pods: get list watch",
    "core/services: get list watch",
    "discovery.k8s.io/endpointslices: get list watch",
    "networking.k8s.io/networkpolicies: get list watch",
  ]);

  it("routes and enforces policies, and leaves Services to kube-proxy", () => {
    const args = argsOf(router, "kube-router");
    for (const expected of [
      "--run-router=true",
      "--run-firewall=true",
      "--run-service-proxy=false",
      "--enable-overlay=false",
      "--auto-mtu=false",
      "--service-cluster-ip-range=10.96.0.0/12",
    ]) {
      assert.ok(args.includes(expected), expected);
    }
  });

  it("exchanges routes by BGP, or leaves them to the cloud and is otherwise the same", () => {
    const alone = "--enable-ibgp=false";
    const usual = argsOf(router, "kube-router");
    assert.ok(!usual.includes(alone));
    const args = lookups({ cloudRoutes }).argsOf(router, "kube-router");
    assert.equal(args.length, usual.length + 1);
    assert.deepEqual(
      args.filter((arg) => arg !== alone),
      usual,
    );
  });

  it("gives pods the MTU of the network", () => {
    for (const mtu of [1280, 1350, 1450, 8950]) {
      const list = JSON.parse(renderCniConfiguration(mtu)) as {
        plugins: { type: string; mtu?: number }[];
      };
      assert.deepEqual(
        list.plugins.map(({ type }) => type),
        ["bridge", "portmap"],
      );
      assert.equal(list.plugins[0]?.mtu, mtu);
    }
  });

  it("routes both IP families, and waits until the draft contains the node's IPv6 range", () => {
    const services = ["10.96.0.0/12", "fd00:10:96::/112"];
    const made = buildKubeRouterDaemonSet({
      image: "router",
      serviceCidrs: services,
      exchangesRoutes: true,
      configChecksum: "0",
    });
    const dual = lookups({ dual: [made as unknown as AnyObject] });
    const usual = argsOf(router, "kube-router");
    assert.deepEqual(
      dual.argsOf(router, "kube-router").filter((arg) => !usual.includes(arg)),
      ["--enable-ipv6=true", "--service-cluster-ip-range=fd00:10:96::/112"],
    );
    const script = dual
      .containerOf(router, "kube-router")
      .lifecycle?.postStart?.exec?.command?.at(-1);
    const [, pattern = ""] = /grep -q '([^']+)'/.exec(script ?? "") ?? [];
    const draft = (subnets: readonly string[]): string =>
      JSON.stringify({ ipam: { ranges: subnets.map((subnet) => [{ subnet }]) } });
    assert.match(draft(["10.244.1.0/24", "fd00:10:244:1::/64"]), new RegExp(pattern));
    assert.doesNotMatch(draft(["10.244.1.0/24"]), new RegExp(pattern));
  });

  it("completes a draft of the configuration before installing it on nodes", () => {
    const [copy, from, draft = ""] = containerOf(router, "draft-cni-configuration").command ?? [];
    assert.equal(copy, "cp");
    const configMap = find("ConfigMap", "kube-router-cni") as unknown as { data: object };
    assert.equal(from, `/etc/kube-router/${Object.keys(configMap.data).join()}`);
    const { env, lifecycle } = containerOf(router, "kube-router");
    assert.equal(env?.find(({ name }) => name === "KUBE_ROUTER_CNI_CONF_FILE")?.value, draft);
    assert.deepEqual(
      lifecycle,
      buildCniInstallHook({
        when: `grep -q '"subnet"' ${draft}`,
        from: draft,
        as: "10-kuberouter.conflist",
        andThen: buildBgpWatch(),
      }),
    );
    assert.ok(!draft.startsWith(cniConfigDirectory));
  });
});
