import { ensureToolchain } from "../../toolchain/toolchain.js";
import { formatTable } from "../../../base/terminal/table.js";
import { usesStandInsByDefault } from "../../setup/operation-environment.js";
import type { CommandSession } from "../../../base/terminal/session.js";

export async function runToolchainCommand(session: CommandSession): Promise<number> {
  const { progress, signal } = session;
  const standIns = usesStandInsByDefault(process.env);
  const { pieces, environment } = await ensureToolchain({ progress, signal, standIns });
  session.print(
    formatTable(
      ["PIECE", "VERSION", "ORIGIN", "WHY", "PATH"],
      pieces.map(({ name, version, origin, why, path }) => [name, version, origin, why, path]),
    ),
  );
  session.emit({ type: "result", ok: true, pieces, environment });
  return 0;
}
