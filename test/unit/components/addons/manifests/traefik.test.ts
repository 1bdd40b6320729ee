import assert from "node:assert/strict";
import {
  buildIngressClass,
  buildTraefikRbac,
  buildTraefikService,
} from "../../../../../components/addons/manifests/traefik.js";
import { ingressPorts } from "../../../../../components/config/load-balancing/ingress-traits.js";
import { rulesOf } from "../../../../support/kubernetes-objects.js";
import { unwrapped } from "../../../../support/graph/unwrapped.js";
import { anywhere, argsOf, balanced, containerOf, find, pinned, podOf } from "../objects.js";

const workload = "Deployment traefik";

describe("addons/manifests/traefik", () => {
  it("may read exactly what its Ingress provider requires, and writes only their status", () => {
    assert.deepEqual(rulesOf(buildTraefikRbac()), [
      "core/services: list watch",
      "core/secrets: list watch",
      "core/nodes: list watch",
      "discovery.k8s.io/endpointslices: list watch",
      "networking.k8s.io/ingresses: list watch",
      "networking.k8s.io/ingressclasses: list watch",
      "networking.k8s.io/ingresses/status: update",
    ]);
  });

  it("serves only Ingresses of its class and sends no telemetry", () => {
    const args = argsOf(workload, "traefik");
    const providers = args.filter((arg) => /^--providers\.[a-zA-Z]+=/.test(arg));
    assert.deepEqual(providers, ["--providers.kubernetesIngress=true"]);
    assert.ok(args.includes("--providers.kubernetesIngress.ingressClass=traefik"));
    assert.ok(args.includes("--global.sendAnonymousUsage=false"));
    assert.ok(!args.some((arg) => /^--(api|certificatesResolvers)/.test(arg)));
  });

  it("serves Ingresses without a class if the user requests it", () => {
    const key = "ingressclass.kubernetes.io/is-default-class";
    const of = (defaultClass: boolean) =>
      unwrapped(buildIngressClass({ defaultClass })).metadata.annotations?.[key];
    assert.deepEqual([of(true), of(false)], ["true", "false"]);
  });

  it("runs unprivileged with a read-only file system, and its probe uses its own port", () => {
    const container = containerOf(workload, "traefik");
    assert.equal(container.securityContext?.readOnlyRootFilesystem, true);
    assert.equal(podOf(workload).securityContext?.runAsNonRoot, true);
    for (const { containerPort } of container.ports ?? []) assert.ok(containerPort > 1024);
    assert.ok(container.ports?.every(({ hostPort }) => hostPort === undefined));
    const ping = container.ports?.find(({ name }) => name === "ping");
    assert.ok(
      container.args?.includes(`--entryPoints.traefik.address=:${String(ping?.containerPort)}/tcp`),
    );
    for (const probe of [container.readinessProbe, container.livenessProbe])
      assert.deepEqual(probe?.httpGet, { path: "/ping", port: "ping" });
  });

  it("accepts connections and finishes requests for some time after it was asked to end", () => {
    const args = argsOf(workload, "traefik");
    for (const entryPoint of ["web", "websecure"]) {
      const prefix = `--entryPoints.${entryPoint}.transport.lifeCycle`;
      assert.ok(args.includes(`${prefix}.requestAcceptGraceTimeout=15s`));
      assert.ok(args.includes(`${prefix}.graceTimeOut=30s`));
    }
    assert.ok(args.includes("--ping.terminatingStatusCode=200"));
    assert.equal(podOf(workload).terminationGracePeriodSeconds, 55);
  });

  it("listens on the ports of its Service", () => {
    const ports = containerOf(workload, "traefik").ports ?? [];
    for (const { name, containerPort } of ingressPorts)
      assert.equal(ports.find((port) => port.name === name)?.containerPort, containerPort);
    for (const spec of [pinned, balanced])
      assert.deepEqual(
        unwrapped(buildTraefikService(spec)).spec?.ports?.map(({ port, targetPort }) => [
          port,
          targetPort,
        ]),
        [
          [80, "http"],
          [443, "https"],
        ],
      );
  });

  it("runs only on machines of its pool, one pod per machine, and tolerates the pool's taints", () => {
    const { nodeSelector, tolerations, affinity } = podOf(workload);
    assert.deepEqual(nodeSelector, { "stackadm.io/pool": "edge" });
    assert.deepEqual(tolerations, [
      { key: "edge", value: "yes", effect: "NoSchedule", operator: "Equal" },
    ]);
    const [term] = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    assert.equal(term?.topologyKey, "kubernetes.io/hostname");
    assert.deepEqual(
      term.labelSelector?.matchLabels,
      find("Deployment", "traefik").metadata.labels,
    );
    assert.deepEqual(unwrapped(buildTraefikService(pinned)).spec, {
      type: "NodePort",
      externalTrafficPolicy: "Local",
      selector: { "app.kubernetes.io/name": "traefik" },
      ports: [
        { name: "http", port: 80, targetPort: "http", protocol: "TCP", nodePort: 30080 },
        { name: "https", port: 443, targetPort: "https", protocol: "TCP", nodePort: 30043 },
      ],
    });
  });

  it("starts a new pod only after the old one has ended if every machine runs one", () => {
    const strategyOf = (of: unknown) =>
      (of as { spec: { strategy: { rollingUpdate: object } } }).spec.strategy.rollingUpdate;
    assert.deepEqual(strategyOf(find("Deployment", "traefik")), { maxSurge: 0, maxUnavailable: 1 });
    assert.deepEqual(strategyOf(anywhere), { maxSurge: 1, maxUnavailable: 0 });
  });

  it("runs on any machine behind a Service with the user's annotations", () => {
    const pod = unwrapped(anywhere).spec.template.spec;
    assert.deepEqual([pod?.nodeSelector, pod?.affinity], [undefined, undefined]);
    assert.equal(pod?.topologySpreadConstraints?.length, 1);
    const of = (awaited: boolean) =>
      unwrapped(buildTraefikService(balanced, awaited)).metadata.annotations;
    const told = {
      "service.beta.kubernetes.io/openstack-internal-load-balancer": "true",
      "loadbalancer.openstack.org/flavor-id": "small",
    };
    assert.deepEqual(of(true), told);
    assert.deepEqual(of(false), { ...told, "pulumi.com/skipAwait": "true" });
    const open = { ...balanced, public: true, address: "203.0.113.9" };
    assert.equal(unwrapped(buildTraefikService(open)).spec?.loadBalancerIP, "203.0.113.9");
  });
});
