import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  clusterSchema,
  parseClusterSpec,
  type ClusterSpec,
} from "../../../../components/config/cluster-spec.js";
import { golden } from "../../../support/golden.js";
import { mistakes } from "../../../support/config/invalid-values.js";
import { smallest } from "../../../support/config/spec.js";

const spec = (over: object = {}): ClusterSpec => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};

const problems = (args: unknown): string[] => {
  const result = parseClusterSpec(args);
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

describe("parseClusterSpec", () => {
  it("requires six values in addition to name and login key, and has defaults for all others", () => {
    const { kubernetes, network, storageClasses, samples, zones, protect } = spec();
    assert.equal(kubernetes.version, "1.36.3");
    assert.deepEqual(network, {
      nodes: "10.0.0.0/24",
      pods: "10.244.0.0/16",
      services: "10.96.0.0/12",
      dns: [],
      portSecurity: true,
      securityGroups: [],
      nodePorts: [],
    });
    assert.deepEqual(storageClasses, [{ name: "gold", default: true }]);
    assert.deepEqual([samples, zones, protect], [false, [], false]);
  });

  it("uses a floating IP for the API by default, under a name of the cluster", () => {
    const { endpoint, apiName } = spec();
    assert.deepEqual([endpoint, apiName], [{ kind: "floating-ip" }, "api.dev.internal"]);
  });

  it("takes the API's load balancer provider from the others, and makes the balancer public", () => {
    const kind = "load-balancer";
    const { endpoint } = spec({ endpoint: { kind }, loadBalancer: { provider: "ovn" } });
    assert.deepEqual(endpoint, { kind, provider: "ovn", public: true });
    const own = spec({ endpoint: { kind, provider: "amphora", public: false } });
    assert.deepEqual(own.endpoint, { kind, provider: "amphora", public: false });
  });

  it("uses the DNS name of an existing endpoint as the API's name, and of no other endpoint", () => {
    const named = (host: string): string => spec({ endpoint: { kind: "existing", host } }).apiName;
    assert.equal(named("api.example.org"), "api.example.org");
    assert.equal(named("203.0.113.7"), "api.dev.internal");
    assert.equal(named("2001:db8::7"), "api.dev.internal");
    assert.equal(spec({ apiName: "k8s.example.org" }).apiName, "k8s.example.org");
  });

  for (const [path, over] of mistakes) {
    it(`refuses ${JSON.stringify(over)} at ${path}`, () => {
      const found = problems({ ...smallest, ...over });
      assert.equal(found.length, 1, found.join("\n"));
      const place = path === "" ? "cluster" : `cluster.${path}`;
      assert.ok(found[0]?.startsWith(`${place}: `), found[0]);
    });
  }

  it("reports what to write in each sentence", () => {
    const sentences = mistakes.flatMap(([, over]) => problems({ ...smallest, ...over }));
    golden("spec-errors.txt", `${sentences.join("\n")}\n`);
    for (const sentence of sentences)
      assert.match(
        sentence,
        /; .*(write|use|choose|it has|leave|give|start)|is empty; write/,
        sentence,
      );
  });

  it("reports all missing values at once", () => {
    const missing = problems({}).map((problem) => problem.split(": ")[0]);
    assert.deepEqual(missing.sort(), [
      "cluster.allowedCidrs",
      "cluster.controlPlane",
      "cluster.externalNetwork",
      "cluster.image",
      "cluster.name",
      "cluster.ssh",
      "cluster.workers",
    ]);
  });

  it("reports an unknown key and lists the known ones", () => {
    const [problem] = problems({ ...smallest, zone: "a" });
    assert.match(problem ?? "", /^cluster: does not know \["zone"\]; it has .*zones/);
  });

  it("refuses a value that is not an object, in one sentence", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), (args) => {
        assert.equal(problems(args).length, 1);
      }),
    );
  });

  it("accepts its own result unchanged", () => {
    for (const kind of ["load-balancer", "virtual-ip"]) {
      const resolved = spec({ zones: ["a", "b"], samples: true, endpoint: { kind } });
      assert.deepEqual(parseClusterSpec(resolved), { spec: resolved });
    }
  });

  it("never throws on a value of the wrong type", () => {
    const keys = fc.constantFrom(
      ...[...Object.keys(smallest), "network", "kubernetes", "zones", "endpoint", "apiName"],
    );
    fc.assert(
      fc.property(keys, fc.jsonValue(), (key, value) => {
        const result = clusterSchema.safeParse({ ...smallest, [key]: value });
        assert.equal(typeof result.success, "boolean");
      }),
    );
  });

  it("reports overlapping ranges together with other problems", () => {
    const args = { ...smallest, image: "", network: { pods: "10.0.0.0/16" } };
    const result = parseClusterSpec(args);
    assert.ok("problems" in result);
    assert.deepEqual(
      result.problems.map(({ path }) => path),
      ["cluster.image", "cluster.network.pods"],
    );
  });
});
