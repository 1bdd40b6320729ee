// `npm run check`, `npm test`, `npm run build`: the chores of the repository, from their sources. Checks read sources;
// tests also run dist/, which is all that a build makes.
import { createRequire } from "node:module";
import { start } from "../automation/cli/start.mjs";

const [chore] = process.argv.slice(2);

await start(async () => {
  const { prepare } = await import("./checkout.mjs");
  await prepare({ dist: chore !== "check" });
  if (chore === "build") return;
  await import("tsx");
  await createRequire(import.meta.url)("./main.ts").main(process.argv.slice(2));
});
