import { etcdPorts } from "../../base/ports.js";
import type { SshRoute } from "../../base/ssh-client.js";
import { getRoleTable, type RoleCheck, type RoleRow } from "../../components/config/roles.js";
import { requireHttpSuccess, runCheck, type Check, type VerificationRun } from "./check.js";
import {
  getMachines,
  findSshRoute,
  type ClusterOutputs,
  type MachineOutput,
} from "./cluster-outputs.js";
import { findPodProblem } from "./pod-readiness.js";
import type { SshSessions } from "./ssh-sessions.js";

interface Question {
  /** Name of the check, for messages. */
  readonly name: string;
  readonly ask: (run: VerificationRun, machine: MachineOutput) => Promise<string>;
}

/** Port and path of etcd's health check, as kubeadm configures etcd. */
const health = { port: etcdPorts.health, path: "/health" } as const;

/** Returns a check that runs over SSH, for facts that the Kubernetes API does not have. */
const onMachine =
  (ask: (sessions: SshSessions, target: SshRoute) => Promise<string>): Question["ask"] =>
  async ({ entry, outputs, sessions }, machine) => {
    const target = entry && findSshRoute(machine, outputs, entry);
    if (!target) throw new Error("it cannot be reached by SSH: no route or no host key is known");
    return ask(sessions, target);
  };

const questions: Readonly<Record<RoleCheck, Question>> = {
  "etcd-pod": {
    name: "etcd member",
    ask: async ({ api }, { name }) => {
      const complaint = await findPodProblem(api, "kube-system", `etcd-${name}`);
      if (complaint !== undefined) throw new Error(complaint);
      return "its pod is Ready";
    },
  },
  "etcd-health": {
    name: "etcd member",
    ask: onMachine(async (sessions, target) =>
      requireHttpSuccess(await sessions.fetch(target, "127.0.0.1", health)),
    ),
  },
  login: {
    name: "way in",
    ask: onMachine(async (sessions, target) => {
      await sessions.logIn(target);
      return `accepts the login of ${target.user}`;
    }),
  },
};

/**
 * Returns the checks for the machine's role. Returns none if this release does not know the role.
 */
const questionsTo = ({ role }: MachineOutput, { etcd }: ClusterOutputs): readonly Question[] => {
  const rows: Readonly<Partial<Record<string, RoleRow>>> = getRoleTable({
    etcd: etcd && etcd.length > 0 ? etcd : undefined,
  });
  return (rows[role]?.proofs ?? []).map((proof) => questions[proof]);
};

/**
 * Runs the checks that the table of roles lists for the role of each machine. `checkNodes` checks
 * whether the nodes are ready.
 */
export const checkRoles = (run: VerificationRun): Promise<Check[]> =>
  Promise.all(
    getMachines(run.outputs).flatMap((machine) =>
      questionsTo(machine, run.outputs).map(({ name, ask }) =>
        runCheck(name, machine.name, {
          options: run,
          attempt: () => ask(run, machine),
        }),
      ),
    ),
  );
