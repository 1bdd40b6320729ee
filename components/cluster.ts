import type * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { EntryAddress, connectionsWithoutProxy } from "./access/ssh-route.js";
import type { Bastion } from "./access/bastion.js";
import { Addons, type AddonsArgs } from "./addons/addons.js";
import { getAddonArguments, getCloudAccess } from "./addons/addon-arguments.js";
import { checkArguments, recallSpec } from "./check-arguments.js";
import type { ClusterComponentArgs } from "./cluster-arguments.js";
import type { ClusterArgs, ClusterSpec } from "./config/cluster-spec.js";
import type { Endpoint } from "./endpoint/endpoint.js";
import { FloatingIpEndpoint } from "./endpoint/floating-ip.js";
import { getEndpointClass } from "./endpoint/endpoint-kinds.js";
import type { Infrastructure, KubeadmCluster } from "./cluster-part-types.js";
import {
  frozenValuesName,
  getFrozenValues,
  FrozenValues,
  readVersionBeforeUpgrade,
} from "./lifecycle/immutable-values.js";
import { ApplicationCredential } from "./identity/application-credential.js";
import { getSuppliedLogin } from "./identity/cloud-login.js";
import { readKubeconfigRenewal } from "./identity/kubeconfig-renewal.js";
import { IngressLoadBalancer } from "./endpoint/ingress-load-balancer.js";
import { ControlPlane } from "./kubeadm/control-planes.js";
import { ApiReadiness } from "./kubeadm/api-readiness.js";
import { WorkerPool, type JoinWorkersArgs } from "./kubeadm/worker-pool.js";
import { getContainerdChecksum } from "./machine/containerd-values.js";
import type { MachineConnections } from "./machine/machine-connections.js";
import type { CommonMachineSettings } from "./machine/machine.js";
import type { RolloutGroupArgs } from "./machine/machine-group.js";
import { Rollout } from "./lifecycle/rollout.js";
import { getAdminNetwork } from "./network/second-interface-network.js";
import { Firewall } from "./network/firewall.js";
import { getFirewallRules } from "./network/firewall-plan.js";
import { resolveNetworks } from "./network/resolved-networks.js";
import { Network } from "./network/network.js";
import * as outputs from "./cluster-outputs.js";
import { planCluster, type PlannedGroup } from "./plan/cluster-plan.js";
import { isRoutedByCloud, getAddressPairRanges } from "./pod-network/pod-network-kinds.js";
import { requiredLookups } from "./cloud-requirements.js";
import { countSshFloatingIps } from "./config/network/existing-floating-ip-checks.js";
import { lookUpCloud } from "./lookup/cloud-lookup.js";
import { CloudObjects } from "./lookup/cloud-objects.js";
import { clusterType } from "./pulumi/cluster-type.js";
import { Component } from "./pulumi/component.js";
import { createArgumentError } from "./pulumi/errors.js";
import { UnreachableServers } from "./lifecycle/unreachable-servers.js";
import { createPluginVersionOptions } from "./pulumi/openstack-plugin.js";
import { addPreparedProvider, requireSameProvider } from "./pulumi/openstack-provider.js";
import { ClusterIdentity, RandomSeed } from "./remote-scripts/remote-script.js";
import { createSlowMachineOptions } from "./pulumi/slow-machine-timeouts.js";
import { addTransforms } from "./pulumi/transforms.js";
import { joinLists } from "./pulumi/resource-lists.js";
import { createSeparateGroups, listSeparateGroups } from "./separate-groups.js";
import { setPoolHost, WorkerPools, type JoinedPool, type PoolPlace } from "./worker-pools.js";

/** Parts of the cluster that exist before its pools. */
interface Joining {
  readonly joining: JoinWorkersArgs;
  readonly dependsOn: pulumi.Resource[];
}

/**
 * Kubernetes cluster on OpenStack.
 *
 * @example
 * const cluster = new Cluster("dev", {
 *   image: "debian-12", externalNetwork: "public", allowedCidrs: ["203.0.113.0/24"],
 *   controlPlane: { flavor: "m1.medium" }, workers: { general: { flavor: "m1.medium", count: 2 } },
 *   ssh: { publicKey: "ssh-ed25519 AAAA..." },
 * });
 */
export class Cluster extends Component {
  static readonly type = clusterType;
  /** Kubeconfig of the administrator, as a secret. Known only after the API has answered. */
  readonly kubeconfig: pulumi.Output<string>;
  /** URL of the Kubernetes API: `https://203.0.113.7:6443`. */
  readonly apiEndpoint: pulumi.Output<string>;
  /** UID of the namespace kube-system, which identifies the cluster in Kubernetes. */
  readonly clusterId: pulumi.Output<string>;
  readonly clusterName: string;
  /**
   * Identity of the cluster in OpenStack: 12 random hexadecimal digits. The program marks all cloud
   * objects of the cluster with this identity, because two clusters may have the same name.
   */
  readonly identity: pulumi.Output<string>;
  readonly nodes: pulumi.Output<outputs.NodeOutput[]>;
  /**
   * Machines that are not nodes, by role: `bastion`, `etcd`. Contains only roles that the cluster
   * has.
   */
  readonly separateMachines: outputs.SeparateMachineOutputs;
  /** ID of the machines' network, for your own resources in this network. */
  readonly networkId: pulumi.Output<string>;
  /** ID of the machines' IPv4 subnet. */
  readonly subnetId: pulumi.Output<string>;
  /**
   * ID of the router. Undefined for an existing network whose router the specification does not
   * name.
   */
  readonly routerId: pulumi.Output<string | undefined>;
  /**
   * IDs of the security groups: `node` for all nodes, `admin` for second interfaces, and the name
   * of a role for the machines with that role.
   */
  readonly securityGroupIds: Readonly<Record<string, pulumi.Output<string>>>;
  /**
   * Kubernetes provider for your own objects in the cluster. Usable only after the API has
   * answered.
   */
  readonly provider: kubernetes.Provider;
  /** Lines of a known_hosts file, one for each machine. */
  readonly hostKeys: pulumi.Output<string[]>;
  /** Addresses and names of the sample workloads. Undefined without `samples`. */
  readonly samples: pulumi.Output<outputs.SamplesOutput | undefined>;
  /** Address of the ingress controller. Undefined without `ingress`. */
  readonly ingress: pulumi.Output<outputs.IngressOutput | undefined>;
  /**
   * Outputs for your stack: return or export them, and the commands of stackadm work in your
   * project. If the stack has several clusters, name its outputs yourself.
   */
  readonly stackOutputs: outputs.StackOutputs;

  constructor(name: string, args: ClusterComponentArgs, opts?: pulumi.ComponentResourceOptions) {
    const { cloud: found, operator, transforms, provider, ...written } = args;
    const version = createPluginVersionOptions(written.openstackPlugin);
    const working = pulumi.mergeOptions(version, addPreparedProvider(opts, provider));
    const options = addTransforms(working, transforms);
    super(Cluster.type, name, options);
    const spec = this.check(args, { ...written, name: written.name ?? name });
    requireSameProvider(this, found, provider);
    const { cloud, objects } = this.lookUp(spec, args);
    const frozen = this.makeFirst(
      FrozenValues,
      frozenValuesName,
      getFrozenValues(spec, objects, {
        operator,
        versionWritten: written.kubernetes?.version !== undefined,
      }),
    );
    this.identity = this.make(ClusterIdentity, "identity", { protect: spec.protect }).identity;
    const { timeoutFactor } = spec;
    const failed = UnreachableServers.forRun(operator, found, { ...spec.ssh, timeoutFactor });
    const before = () => readVersionBeforeUpgrade(name);
    const renewal = pulumi.output(readKubeconfigRenewal(`${name}-readiness`));
    const pools = new WorkerPools(spec);
    const given = { cloud, objects, frozen, operator, failed, version: before, renewal, pools };
    const ground = this.ground(spec, given);
    const wanted = { mark: ground.mark, scope: cloud.scope, spec };
    const login =
      getSuppliedLogin(spec, cloud.scope) ??
      this.make(ApplicationCredential, "credential", wanted).login;
    const kubernetes = this.kubernetes(ground);
    const { members, separate, access, readiness, facts } = kubernetes;
    const addons = this.addons(ground, kubernetes, login);
    setPoolHost(this, { pools, cloud, operator, access, options });

    this.kubeconfig = readiness.kubeconfig;
    this.apiEndpoint = readiness.apiEndpoint;
    this.clusterId = facts.uid;
    this.clusterName = spec.name;
    this.nodes = pulumi.output(members.then((all) => outputs.getNodeOutputs(all, access)));
    this.separateMachines = outputs.getSeparateMachineOutputs(separate, access);
    const others = listSeparateGroups(separate).flatMap(([, group]) => group.members);
    this.hostKeys = pulumi.output(
      members.then((all) => outputs.getKnownHostsLines([...all, ...others], access)),
    );
    this.networkId = ground.network.networkId;
    this.subnetId = ground.network.subnetId;
    this.routerId = ground.network.routerId;
    this.securityGroupIds = ground.firewall.ids;
    this.provider = addons.provider;
    this.samples = outputs.getSamplesOutput(addons.samples);
    this.ingress = outputs.getIngressOutput(addons.ingress, spec.ingress);
    this.stackOutputs = outputs.getStackOutputs(this, spec);
    const { apiEndpoint, clusterId, identity } = this;
    const kubernetesVersion = pulumi.output(kubernetes.versions.then(outputs.findLowestVersion));
    // Known only after the scripts of all nodes, as the version is. The next run compares it.
    const containerdChecksum = kubernetesVersion.apply(() => getContainerdChecksum(spec));
    const reported = { apiEndpoint, clusterId, identity, kubernetesVersion, containerdChecksum };
    this.registerOutputs(reported);
  }

  private check(args: ClusterComponentArgs, written: ClusterArgs): ClusterSpec {
    const before = recallSpec(args);
    if (before) return before;
    const result = checkArguments(written, args.operator?.files);
    if ("problems" in result) throw createArgumentError(this, result.problems);
    return result.spec;
  }

  /** Looks up the objects of the specification, unless `prepare` did so before. */
  private lookUp(
    spec: ClusterSpec,
    { cloud: found, operator }: ClusterComponentArgs,
  ): Pick<Infrastructure, "cloud" | "objects"> {
    const [wanted, opts] = [requiredLookups(spec), { parent: this }];
    const cloud = pulumi.output(found ?? lookUpCloud(wanted, opts, operator));
    return { cloud, objects: new CloudObjects(wanted, cloud, opts) };
  }

  private ground(
    spec: ClusterSpec,
    given: Omit<Infrastructure, "spec" | "plan" | "mark" | "network" | "outside" | "firewall">,
  ): Infrastructure {
    const { objects } = given;
    const plan = planCluster(spec);
    const mark = { name: spec.name, identity: this.identity };
    const network = this.make(Network, "network", {
      mark,
      name: plan.networkName,
      reserved: plan.addresses,
      routesOfCloud: isRoutedByCloud(spec.podNetwork),
      ...spec.network,
      ...resolveNetworks(spec, objects),
    });
    const filters = { mark, groups: plan.securityGroups, rules: getFirewallRules(spec) };
    const firewall = this.make(Firewall, "firewall", filters);
    const checkFloatingIp = (address: string) => objects.floatingIp(address);
    const outside = { ...network.outside, checkFloatingIp };
    return { ...given, spec, plan, mark, network, outside, firewall };
  }

  /** Creates the machines, and creates the cluster on them with kubeadm. */
  private kubernetes(ground: Infrastructure): KubeadmCluster {
    const { spec, plan, cloud, frozen, firewall, operator, version, renewal, pools } = ground;
    const endpoint = this.endpoint(ground);
    const machines = this.machineSettings(ground);
    const turns = Rollout.forRun(pools.whole, cloud, version, getContainerdChecksum(spec));
    const encrypted = operator?.encrypted ?? false;
    const group = (planned: PlannedGroup): [string, RolloutGroupArgs] => [
      planned.component,
      {
        plan: planned,
        machines,
        turns,
        encrypted,
        securityGroupIds: firewall.groupIds(planned.role),
      },
    ];
    const [leading, ...others] = plan.groups;
    const [name, own] = group(leading);
    const { allowedAddresses } = endpoint;
    const controlPlane = this.make(ControlPlane, name, { ...own, allowedAddresses });
    const { first } = controlPlane;
    // Scripts that remove other machines may connect through the endpoint. The first control plane
    // therefore joins the endpoint before all other machines.
    endpoint.addControlPlane(first);
    const after = { dependsOn: [...endpoint.fixedAddressResources] };
    const separate = createSeparateGroups(plan.separate, (type, planned) =>
      this.make(type, ...group(planned), after),
    );
    const { bastion, etcd } = separate;
    const access = this.access(ground, { controlPlane, bastion, endpoint });
    for (const [, one] of listSeparateGroups(separate)) one.formCluster?.(spec, access);
    const { whole } = pools;
    const forming = { spec, whole, frozen, machines, endpoint, access, etcd, turns, renewal };
    const facts = controlPlane.formCluster(forming);
    const joining = { spec, machines, endpoint, access, controlPlane, facts };
    pools.open((planned, place) =>
      this.joinPool(group(planned), { ...place, dependsOn: after.dependsOn, joining }),
    );
    const written = others.map(({ pool }) => pools.add(pool).pool);
    const readiness = this.make(ApiReadiness, "readiness", {
      clusterName: spec.name,
      endpoint,
      facts,
      renewal,
    });
    const balancer = this.balancer(ground, written, after);
    return {
      ...pools.listNodes(controlPlane),
      controlPlane,
      separate,
      access,
      facts,
      readiness,
      balancer,
    };
  }

  /** Creates the machines of a pool, and joins them to the cluster. */
  private joinPool(
    [component, args]: [string, RolloutGroupArgs],
    { parent = this, objects = args.machines.objects, dependsOn, joining }: PoolPlace & Joining,
  ): JoinedPool {
    const machines = { ...args.machines, objects };
    // A pool that moves out of `workers` keeps its machines.
    const aliases = parent === this ? [] : [{ parent: this }];
    const options = { dependsOn, parent, aliases };
    const pool = this.make(WorkerPool, component, { ...args, machines }, options);
    return { pool, joins: pool.join({ ...joining, machines }) };
  }

  private endpoint({ spec, plan, network, outside, operator }: Infrastructure): Endpoint {
    return this.make(getEndpointClass(spec.endpoint.kind), "endpoint", {
      ...outside,
      spec: spec.endpoint,
      name: plan.endpointName,
      networkId: network.networkId,
      subnetId: network.subnetId,
      ipv6: network.ipv6,
      nodes: spec.network.nodes,
      allowedCidrs: spec.allowedCidrs,
      operator,
    });
  }

  /**
   * Creates the load balancer in front of the machines that run the ingress controller. Returns
   * undefined unless `ingress.kind` is `workers`.
   */
  private balancer(
    { spec, plan, network, outside, operator }: Infrastructure,
    pools: readonly WorkerPool[],
    opts: pulumi.ComponentResourceOptions,
  ): IngressLoadBalancer | undefined {
    const { ingress } = spec;
    if (ingress?.kind !== "workers") return undefined;
    const { subnetId, routerAddresses } = network;
    const pool = pools.find(({ members: [first] }) => first?.plan.pool === ingress.pool);
    const machines = pool?.listJoinedMachines() ?? [];
    const given = { ...outside, name: plan.ingressName, spec, ingress, operator, machines };
    const args = { ...given, subnetId, routerAddresses };
    const balancer = this.make(IngressLoadBalancer, "ingress", args, opts);
    for (const machine of machines)
      pool?.addToTurn(machine, balancer.memberIds.get(machine.plan.name) ?? []);
    return balancer;
  }

  private machineSettings(ground: Infrastructure): CommonMachineSettings {
    const { spec, objects, mark, network, operator, failed } = ground;
    return {
      admin: getAdminNetwork(ground),
      mark,
      objects,
      failed,
      networkId: network.networkId,
      subnetId: network.subnetId,
      ipv6: network.ipv6,
      portSecurity: spec.network.portSecurity,
      routesOfCloud: isRoutedByCloud(spec.podNetwork),
      routedRanges: getAddressPairRanges(spec),
      login: spec.ssh,
      seed: this.make(RandomSeed, "seed", {}).seed,
      cloudAuthority: operator?.caCertificate,
    };
  }

  private access(
    { spec, outside }: Infrastructure,
    given: { controlPlane: ControlPlane; bastion: Bastion | undefined; endpoint: Endpoint },
  ): MachineConnections {
    const direct = connectionsWithoutProxy[spec.access];
    if (direct) return direct;
    const { controlPlane, bastion, endpoint } = given;
    const { machine } = bastion?.member ?? controlPlane.first;
    if (!bastion && endpoint instanceof FloatingIpEndpoint)
      return controlPlane.getConnections(endpoint.externalHost);
    const floatingIp = { given: spec.ssh.floatingIp, after: endpoint.floatingIpResources };
    const wanted = { ...outside, ...floatingIp, portId: machine.portId };
    // Without an external network there is no floating IP, and SSH connects to the machine's own
    // address. The floating IPs of a bastion and of a control plane have different resource names.
    // If `access` changes, the old floating IP is therefore deleted last. Until then, SSH uses the
    // old floating IP to reach machines that the same run removes.
    const name = bastion ? "bastion-access" : "access";
    const { address } = countSshFloatingIps(spec) ? this.make(EntryAddress, name, wanted) : machine;
    return bastion ? bastion.getConnections(address, spec) : controlPlane.getConnections(address);
  }

  private addons(
    { spec, cloud, objects, network, operator }: Infrastructure,
    { controlPlane, access, facts, joins, readiness, balancer }: KubeadmCluster,
    login: ApplicationCredential["login"],
  ): Addons {
    const args: AddonsArgs = {
      ...getAddonArguments(spec, facts, balancer?.address),
      nameInCloud: facts.name,
      kubeconfig: readiness.kubeconfig,
      networkMtu: network.mtu,
      cloud: getCloudAccess(spec, cloud, { objects, network, login, operator }),
      deletedWith: controlPlane.first.machine.server,
      joins,
      files: operator?.files,
      encrypted: operator?.encrypted ?? false,
      teardown: ({ kept }) =>
        controlPlane.teardown(access, joinLists(kept, joins), spec.blockStorage.snapshots),
    };
    return this.make(Addons, "addons", args, createSlowMachineOptions(spec.timeoutFactor));
  }
}
