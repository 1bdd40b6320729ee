import { getKubeconfigPath } from "../../../automation/engine/local-cluster-files.js";
import { prepareWorkDirectory } from "../../../automation/pulumi/workspace.js";

export interface Whose {
  /** Value of XDG_STATE_HOME. */
  readonly stateHome: string;
  readonly backend: string;
  readonly projectDirectory: string;
}

/** Returns the path of the kubeconfig of the stack `dev`, for this state directory. */
export function kubeconfigFileOf({ stateHome, ...whose }: Whose): string {
  const before = process.env["XDG_STATE_HOME"];
  process.env["XDG_STATE_HOME"] = stateHome;
  try {
    return getKubeconfigPath(
      prepareWorkDirectory({ stack: "dev", settings: "config: {}\n", ...whose }),
    );
  } finally {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
  }
}
