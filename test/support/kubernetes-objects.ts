/**
 * Functions that read the Kubernetes objects which the program builds, and tests that all of these
 * objects must pass.
 */
import { apiByNameLabel } from "../../components/kubernetes-objects/pod-settings.js";
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { types } from "@pulumi/kubernetes";
import type { Unwrap } from "@pulumi/pulumi";
import { parseAllDocuments, stringify } from "yaml";
import type { RbacObjects } from "../../components/kubernetes-objects/rbac.js";
import { unwrapped } from "./graph/unwrapped.js";
import { nonEmpty } from "./non-empty.js";

/** Fields that every object has. */
export interface AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}
export type PodSpec = Unwrap<types.input.core.v1.PodSpec>;
export type Container = Unwrap<types.input.core.v1.Container>;

/** Map from the name of a golden file to its set of objects. */
export type Objects = Readonly<Record<string, readonly AnyObject[]>>;

/** Returns the service account of an add-on, and the account's roles and bindings. */
export const accessObjects = (access: RbacObjects): readonly object[] => [
  access.serviceAccount,
  access.clusterRole,
  access.clusterRoleBinding,
  ...(access.namespaced === undefined
    ? []
    : [access.namespaced.role, access.namespaced.roleBinding]),
];

type Workload = AnyObject & {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
  };
};

/** Returns all objects that run pods. */
const workloadsOf = (objects: Objects): readonly Workload[] =>
  Object.values(objects)
    .flat()
    .filter((object): object is Workload =>
      ["DaemonSet", "Deployment", "StatefulSet"].includes(object.kind),
    );

/** Returns functions that find an object, a pod or a container in a set of objects. */
export function lookups(objects: Objects) {
  const find = (kind: string, name: string): AnyObject => {
    const all = Object.values(objects).flat();
    const found = all.find((object) => object.kind === kind && object.metadata.name === name);
    assert.ok(found, `no ${kind} ${name}`);
    return found;
  };
  /** Returns the pod specifications of all workloads, by the kind and the name of the workload. */
  const podSpecs = (): ReadonlyMap<string, PodSpec> =>
    new Map(
      workloadsOf(objects).map(({ kind, metadata, spec }) => [
        `${kind} ${metadata.name}`,
        spec.template.spec,
      ]),
    );
  const podOf = (workload: string): PodSpec => {
    const pod = podSpecs().get(workload);
    assert.ok(pod, workload);
    return pod;
  };
  const containerOf = (workload: string, container: string): Container => {
    const found = containersOf(podOf(workload)).find(({ name }) => name === container);
    assert.ok(found, `no container ${container} in ${workload}`);
    return found;
  };
  const argsOf = (workload: string, container: string): readonly string[] =>
    containerOf(workload, container).args ?? [];
  return { find, podSpecs, podOf, containerOf, argsOf };
}

/** Returns all containers of a pod, including init containers. */
export const containersOf = (pod: PodSpec): readonly Container[] => [
  ...(pod.initContainers ?? []),
  ...pod.containers,
];

/** Returns the rights of an account, for example "core/nodes: get list". */
export function rulesOf(access: RbacObjects): readonly string[] {
  const { clusterRole, namespaced } = unwrapped(access);
  const rules = [...(clusterRole.rules ?? []), ...(namespaced?.role.rules ?? [])];
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.map(
        (resource) => `${group === "" ? "core" : group}/${resource}: ${verbs.join(" ")}`,
      ),
    ),
  );
}

/** Returns the objects of one file as YAML for `kubectl apply -f`. */
const toYaml = (list: readonly AnyObject[]): string =>
  list
    .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join("");

/** Defines tests that compare each set of objects with a file of a directory. */
export function describeGoldens(directory: string, objects: Objects): void {
  describe("rendered objects", () => {
    for (const [name, list] of Object.entries(objects)) {
      it(`${name}.yaml matches the reviewed file (rewritten with STACKADM_UPDATE_GOLDEN=1)`, () => {
        const file = join(directory, `${name}.yaml`);
        const rendered = toYaml(list);
        if (process.env["STACKADM_UPDATE_GOLDEN"] === "1") writeFileSync(file, rendered);
        assert.equal(rendered, readFileSync(file, "utf8"));
      });

      it(`${name}.yaml is parsed to the same objects`, () => {
        const documents = parseAllDocuments(toYaml(list)).map(
          (document) => document.toJS() as object,
        );
        assert.deepEqual(documents, JSON.parse(JSON.stringify(list)));
      });
    }

    it("have no file without a renderer", () => {
      const expected = Object.keys(objects).map((name) => `${name}.yaml`);
      assert.deepEqual(readdirSync(directory).sort(), expected.sort());
    });

    it("have unique kinds and names", () => {
      const names = Object.values(objects)
        .flat()
        .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""} ${metadata.name}`);
      assert.equal(new Set(names).size, names.length);
    });
  });
}

/** Defines tests that all workloads must pass. */
export function describeWorkloads(objects: Objects): void {
  const workloads = workloadsOf(objects);
  describe("all workloads", () => {
    for (const { kind, metadata, spec } of workloads) describePod(`${kind} ${metadata.name}`, spec);

    it("select exactly their own pods", () => {
      const selectors = workloads.map(({ spec }) => {
        // The selector does not contain the labels that machine scripts read, because a selector is
        // immutable.
        const labels = Object.entries(spec.template.metadata.labels);
        assert.deepEqual(
          spec.selector.matchLabels,
          Object.fromEntries(labels.filter(([key]) => !(key in apiByNameLabel))),
        );
        return JSON.stringify(spec.selector.matchLabels);
      });
      assert.equal(new Set(selectors).size, workloads.length);
    });

    it("tolerate late probe answers of containers on a busy machine", () => {
      const probes = workloads.flatMap(({ metadata, spec }) =>
        containersOf(spec.template.spec).flatMap(({ name, livenessProbe }) =>
          livenessProbe ? [{ of: `${metadata.name} ${name}`, ...livenessProbe }] : [],
        ),
      );
      assert.notEqual(probes.length, 0);
      const hasty = probes.filter(
        ({ timeoutSeconds = 1, periodSeconds = 10, failureThreshold = 3 }) =>
          timeoutSeconds < 10 || periodSeconds * failureThreshold < 80,
      );
      assert.deepEqual(hasty, []);
    });

    it("use an existing account of the pod's namespace, or no token", () => {
      const accounts = Object.values(objects)
        .flat()
        .filter(({ kind }) => kind === "ServiceAccount")
        .map(({ metadata }) => `${metadata.namespace ?? ""} ${metadata.name}`);
      for (const { metadata, spec } of nonEmpty(workloads)) {
        const { serviceAccountName, automountServiceAccountToken } = spec.template.spec;
        assert.ok(
          serviceAccountName === undefined
            ? automountServiceAccountToken === false
            : accounts.includes(`${metadata.namespace ?? ""} ${serviceAccountName}`),
          metadata.name,
        );
      }
    });
  });
}

function describePod(workload: string, { template: { spec: pod } }: Workload["spec"]): void {
  const containers = containersOf(pod);

  it(`${workload}: pulls images only if missing, and reports the last log lines on failure`, () => {
    for (const container of nonEmpty(containers)) {
      assert.equal(container.imagePullPolicy, "IfNotPresent");
      assert.equal(container.terminationMessagePolicy, "FallbackToLogsOnError");
      assert.doesNotMatch(container.image ?? "", /:latest$|^$/);
    }
  });

  it(`${workload}: mounts exactly its volumes`, () => {
    const volumes = (pod.volumes ?? []).map(({ name }) => name);
    const mounted = containers.flatMap(({ volumeMounts }) =>
      (volumeMounts ?? []).map(({ name }) => name),
    );
    assert.deepEqual([...new Set(mounted)].sort(), volumes.sort());
  });

  it(`${workload}: requests CPU and memory`, () => {
    for (const { resources, name } of nonEmpty(pod.containers)) {
      assert.deepEqual(Object.keys(resources?.requests ?? {}), ["cpu", "memory"], name);
    }
  });

  it(`${workload}: has no secret in arguments or environment`, () => {
    for (const { args, env, command } of nonEmpty(containers)) {
      const shown = JSON.stringify([args, env, command]);
      assert.doesNotMatch(shown, /secret|password|token/i);
    }
  });
}

/** Defines tests of the permissions that every account must pass. */
export function describeAccess(
  account: string,
  needs: RbacObjects,
  rights: readonly string[],
): void {
  it(`gives ${account} exactly the rights that its program uses`, () => {
    assert.deepEqual(rulesOf(needs), rights);
  });

  it(`gives ${account} no wildcards, secrets, tokens or rights to escalate`, () => {
    const forbidden = /\*|secrets|serviceaccounts|impersonate|escalate|bind|pods\/exec/;
    const found = rulesOf(needs).filter((right) => forbidden.test(right));
    assert.deepEqual(found, []);
  });

  it(`binds the role of ${account} to that account, never cluster-admin`, () => {
    const { clusterRole, clusterRoleBinding, serviceAccount, namespaced } = unwrapped(needs);
    assert.equal(clusterRoleBinding.roleRef.name, clusterRole.metadata.name);
    assert.notEqual(clusterRoleBinding.roleRef.name, "cluster-admin");
    const subject = { kind: "ServiceAccount", ...serviceAccount.metadata };
    assert.deepEqual(clusterRoleBinding.subjects, [subject]);
    if (namespaced !== undefined) {
      assert.equal(namespaced.roleBinding.roleRef.name, namespaced.role.metadata.name);
      assert.deepEqual(namespaced.roleBinding.subjects, [subject]);
    }
  });
}
