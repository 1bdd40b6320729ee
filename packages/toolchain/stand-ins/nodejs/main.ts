/** Entry point of the stand-in for pulumi-language-nodejs. */
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb.js";
import { RemoteEngineLog } from "../plugin/engine-log.js";
import { parseEngineAddress, serve } from "../plugin/serve.js";
import { LanguageHost } from "./language-host.js";

async function main(): Promise<void> {
  const engine = parseEngineAddress(process.argv.slice(2));
  if (engine === undefined) {
    throw new Error("The engine's address is missing: this program is started by Pulumi.");
  }
  const host = new LanguageHost({
    engine,
    log: new RemoteEngineLog(engine),
    env: process.env,
    node: process.execPath,
  });
  const stop = (): void => {
    host.stop();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      stop();
      process.exit(0);
    });
  }
  await serve({
    service: LanguageRuntimeService,
    implementation: host.handlers(),
    onEngineGone: stop,
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
