import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { createImageTable } from "../../../base/versions/container-images.js";
import { silentProgress } from "../../../base/progress.js";
import { defaultKubernetesVersion } from "../../../base/versions/pinned-versions.js";
import { takeInventory } from "../../../openstack/inventory/inventory.js";
import { readConsoleTail } from "../../../openstack/inventory/server-diagnostics.js";
import { labAdd } from "../../../packages/lab/lab.js";
import { kubectlOn } from "../../lab/support/kubernetes/kubectl.js";
import { labCluster, type LabCluster } from "../../lab/support/stack/lab-cluster.js";
import { inServer, reachBy } from "../../lab/support/machines/machines.js";
import { Stack, type Changes } from "../../lab/support/stack/stack.js";
import { untilTrue } from "./until-true.js";
import { RootShells } from "./root-shell.js";

const minutes = 60_000;

/**
 * Time limit of an `up` with one control plane and one worker, on two emulated processors that also
 * have other load.
 */
export const upMs = 45 * minutes;

const siteSchema = z.object({ kubernetes: z.object({ packages: z.unknown() }) });

/**
 * Returns the lab's site defaults without the settings for system containers. Only the package
 * settings remain, because the lab's repository is signed by the lab's own keys.
 */
const siteOfKernels = (text: string): string => stringify(siteSchema.parse(parse(text)));

/**
 * Returns the settings of one control plane and one worker that are virtual machines. All settings
 * are defaults, except the timeout factor. Without it, controllers on two emulated processors lose
 * their leases, and their restarts keep the processors busy.
 */
export const onePlusOne = (image = "debian-12-emulated"): Changes => ({
  timeoutFactor: 4,
  topology: "one-control-plane",
  image,
  externalNetwork: "public",
  allowedCidrs: ["172.29.0.0/16"],
  controlPlane: { flavor: "k8s-control-plane" },
  workers: { general: { flavor: "k8s-worker", count: 1 } },
});

/** Stack on the lab with emulated machines, which have their own kernels. */
export class EmulatedStack extends Stack {
  #shells: RootShells | undefined;
  #folder: string | undefined;
  #stands = false;

  /**
   * Creates a stack. `withContainers` is true if some machines are system containers, because these
   * need the lab's settings.
   * @default false
   */
  constructor(
    name: string,
    readonly settings: Changes = onePlusOne(),
    private readonly withContainers = false,
  ) {
    super(name, { name, ...settings });
  }

  protected override async make(): Promise<LabCluster> {
    await labAdd("emulated-machines", { progress: silentProgress });
    if (this.withContainers) return super.make();
    this.#folder = mkdtempSync(join(tmpdir(), "emulated-"));
    const siteFile = join(this.#folder, "site.yaml");
    return labCluster(this.name, { name: this.name, ...this.settings }, undefined, (facts) => {
      writeFileSync(siteFile, siteOfKernels(readFileSync(facts.siteFile, "utf8")));
      return { cloud: facts.cloud, siteFile };
    });
  }

  override async open(): Promise<void> {
    await super.open();
    this.#shells = new RootShells(this.cluster.environment.env);
  }

  override async up(changed: Changes = {}, refresh = false): Promise<void> {
    this.#stands = true;
    try {
      await super.up(changed, refresh);
    } catch (error) {
      process.stderr.write(`${await this.#clockLines()}\n`);
      throw error;
    }
    this.reach();
  }

  /**
   * Returns the lines about clocks from the consoles of the servers. With a wrong clock, the
   * preparation of a machine fails. Only the first lines of the kernel show the source of the
   * clock.
   */
  async #clockLines(): Promise<string> {
    const { cloud } = this.cluster;
    const servers = (await takeInventory(cloud)).filter(({ kind }) => kind === "server");
    const consoles = servers.map(async ({ id, name }) =>
      (await readConsoleTail(cloud, id, 5_000))
        .split("\n")
        .filter((line) => /tsc|clocksource|rtc_cmos|system time|finished at/i.test(line))
        .map((line) => `${name}: ${line}`),
    );
    return [`Time here: ${new Date().toISOString()}`, ...(await Promise.all(consoles)).flat()].join(
      "\n",
    );
  }

  protected override async destroy(): Promise<void> {
    await super.destroy();
    this.#stands = false;
  }

  /** Registers SSH shells, so that `inServer` can run commands on the stack's machines. */
  protected reach(): void {
    for (const node of this.outputs.nodes) {
      const shell = this.#shells?.shell(node, this.outputs);
      if (shell) reachBy(node.serverId, shell);
    }
  }

  /**
   * Destroys the cluster that a failed test has left, because its machines would use the processors
   * that the next test needs.
   */
  async close(): Promise<void> {
    if (this.#stands)
      await this.destroy().catch((error: unknown) => {
        process.stderr.write(`The cluster ${this.name} could not be destroyed: ${String(error)}\n`);
      });
    this.#shells?.close();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    await this.cluster.close();
  }

  /** Returns the agnhost image. Pods with this image connect to other pods and answer them. */
  agnhost(): string {
    return createImageTable(defaultKubernetesVersion).agnhost;
  }

  /** Runs a shell line as root on a machine. */
  on(machine: string, line: string, input?: string): Promise<string> {
    return inServer(this.serverOf(machine), line, input);
  }

  kubectl(line: string): Promise<string> {
    return kubectlOn(this.serverOf("control-plane-0"), line);
  }

  /** Reboots a machine and waits until its node is ready. Returns the duration in seconds. */
  async reboot(machine: string): Promise<number> {
    const bootId = "cat /proc/sys/kernel/random/boot_id";
    const before = await this.on(machine, bootId);
    const began = Date.now();
    await this.on(machine, "systemctl reboot").catch(() => undefined);
    await untilTrue(`${machine} boots`, 10 * minutes, async () => {
      const now = await this.on(machine, bootId).catch(() => before);
      return now !== before;
    });
    await this.ready(machine);
    return Math.round((Date.now() - began) / 1000);
  }

  /** Returns the time in milliseconds at which a machine booted. */
  async bootTime(machine: string): Promise<number> {
    return Number(await this.on(machine, "awk '/^btime/ {print $2}' /proc/stat")) * 1000;
  }

  /** Waits until a node is ready and has sent a heartbeat after the boot of its machine. */
  async ready(machine: string): Promise<void> {
    const booted = await this.bootTime(machine);
    const field = `{.status.conditions[?(@.type=="Ready")]`;
    const words = `get node ${this.name}-${machine} -o jsonpath='${field}.status} ${field}.lastHeartbeatTime}'`;
    await untilTrue(`node ${machine} is ready`, 10 * minutes, async () => {
      const [status, heartbeat = ""] = (await this.kubectl(words).catch(() => ""))
        .trim()
        .split(" ");
      return status === "True" && Date.parse(heartbeat) > booted;
    });
  }
}
