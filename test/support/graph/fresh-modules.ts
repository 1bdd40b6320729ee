import { createRequire } from "node:module";
import { join } from "node:path";

const load = createRequire(__filename);
const root = join(__dirname, "../../..");
const folders = ["components", "automation"].map((folder) => join(root, folder, "/"));

/**
 * Loads the modules of the program again and runs `work` with them. So `work` can change a table
 * before other modules read the table. Later tests get the original modules.
 */
export async function withFreshModules<Result>(
  work: (load: (path: string) => unknown) => Promise<Result>,
): Promise<Result> {
  const ofProgram = () =>
    Object.entries(load.cache).filter(([path]) => folders.some((one) => path.startsWith(one)));
  const remove = () => {
    for (const [path] of ofProgram()) Reflect.deleteProperty(load.cache, path);
  };
  const before = ofProgram();
  remove();
  try {
    return await work((path) => load(join(root, path)));
  } finally {
    remove();
    Object.assign(load.cache, Object.fromEntries(before));
  }
}
