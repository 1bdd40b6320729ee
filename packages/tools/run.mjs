// Runs the development commands `npm run check`, `npm test`, `npm run build` and `npm run dev` from
// their sources. `check` reads only sources. The other commands need the compiled files in dist/.
import { createRequire } from "node:module";
import { start } from "../../automation/cli/run-on-supported-node.mjs";

const [chore] = process.argv.slice(2);

await start(async () => {
  const { prepare } = await import("./prepare-checkout.mjs");
  await prepare({ dist: chore !== "check" });
  if (chore === "build") return;
  await import("tsx");
  await createRequire(import.meta.url)("./main.ts").main(process.argv.slice(2));
});
