import assert from "node:assert/strict";
import { createImageTable } from "../../../../base/versions/container-images.js";
import {
  podNetworkKinds,
  podNetworkTable,
  getPodNetworkTraits,
  isRoutedByCloud,
} from "../../../../components/pod-network/pod-network-kinds.js";
import { containersOf } from "../../../support/kubernetes-objects.js";
import { podNetworkExamples, podNetworkOf, titleOf } from "../../../support/config/pod-networks.js";
import { sourcesIn, stringsIn } from "../../../support/sources.js";
import { cloudRoutes, objects, podSpecs } from "./objects.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("pod network traits", () => {
  for (const spec of podNetworkExamples) {
    const kind = titleOf(spec);
    const traits = getPodNetworkTraits(spec);

    // The other kinds use the images of their manifest.
    if (traits.images.length > 0)
      it(`${kind}: list the images of its pods, so that machines pull them early`, () => {
        const images = createImageTable("1.36.3");
        const all: typeof objects = { ...objects, "cloud-routes": cloudRoutes };
        const names = (all[spec.kind] ?? []).map(({ metadata }) => `DaemonSet ${metadata.name}`);
        const run = [...podSpecs()]
          .filter(([workload]) => names.includes(workload))
          .flatMap(([, pod]) => containersOf(pod).map(({ image }) => image));
        const early = traits.images.map((name) => images[name]);
        assert.deepEqual([...new Set(run)].sort(), early.sort());
      });

    it(`${kind}: have a firewall passage for each way by which packets enter a machine`, () => {
      // Packets that ports or the cloud's router route have pod addresses; encapsulated packets
      // have machine addresses.
      const ways = [
        ...(traits.routedRanges.length > 0 || isRoutedByCloud(spec) ? ["pods"] : []),
        ...(traits.encapsulation === "none" ? [] : ["machines"]),
      ];
      const found = traits.passages
        .map(({ from }) => from)
        .filter((from) => typeof from === "string");
      assert.deepEqual([...new Set(found)].sort(), ways.sort());
      assert.ok(traits.passages.every(({ reason }) => /^[A-Z]/.test(reason)));
    });

    it(`${kind}: refuse IPv6, or add at least the overhead of IPv4, with SLAAC only if pods are routed`, () => {
      const { ipv6, routedRanges, overhead } = traits;
      if ("refused" in ipv6) assert.doesNotMatch(ipv6.refused, /^[A-Z]|[.;]/);
      else {
        assert.ok(ipv6.overhead >= overhead);
        if (routedRanges.length > 0 && spec.kind !== "none")
          assert.deepEqual(ipv6.modes, ["slaac"]);
      }
    });

    it(`${kind}: have overhead only with encapsulation`, () => {
      assert.equal(traits.overhead > 0, traits.encapsulation !== "none");
    });
  }

  for (const kind of podNetworkKinds)
    it(`${kind}: say in the documentation whether network policies are enforced`, () => {
      const { summary } = podNetworkTable[kind];
      if (kind !== "none") assert.match(summary, /network polic/);
      assert.doesNotMatch(summary, /\.$/);
    });

  it("contain no images for the user's own network, and admit all packets", () => {
    const { images, passages, routedRanges } = getPodNetworkTraits(podNetworkOf("none"));
    assert.deepEqual(images, []);
    assert.ok(passages.some(({ from, protocol }) => from === "pods" && protocol === undefined));
    assert.deepEqual(routedRanges, ["pods", "services"]);
  });

  it("place objects in the namespace of their row", () => {
    for (const [kind, made] of nonEmpty(Object.entries(objects))) {
      const { namespace = "kube-system" }: { namespace?: string } =
        podNetworkTable[kind as keyof typeof podNetworkTable];
      const found = made.flatMap(({ metadata }) => metadata.namespace ?? []);
      assert.deepEqual([...new Set(found)], [namespace], kind);
    }
  });

  it("are used only in their folders; other code names no kind, except in messages", () => {
    /** Other texts with the name of a kind: a flag of the cloud controller, and a help text. */
    const others = ["--configure-cloud-routes=true", "add an extra part to the lab"];
    const named = podNetworkKinds.filter((kind) => kind !== "none");
    const asks = /podNetwork\b[\w?.]*\.kind *[!=]==?/;
    const says = (path: string, one: string): boolean =>
      path.startsWith("components/config/") && !named.some((kind) => kind === one);
    const sources = sourcesIn(["components", "automation", "openstack"], /\.(ts|sh)$/).filter(
      ({ path }) => !path.startsWith("components/pod-network/"),
    );
    const found = sources.flatMap(({ path, text }) => [
      ...stringsIn({ path, text })
        .filter((one) => named.some((kind) => one.includes(kind)))
        .filter((one) => !others.some((other) => one.startsWith(other)) && !says(path, one))
        .map((one) => `${path}: ${one}`),
      ...(asks.test(text) ? [`${path}: asks which one it is`] : []),
    ]);
    assert.deepEqual(found, []);
  });
});
