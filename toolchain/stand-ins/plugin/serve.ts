/** Starts a plugin's gRPC server the way the engine expects: a port on standard output, and an end with the engine's. */
import { fstatSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { unlimited } from "./engine-log.js";

export interface ServeOptions {
  readonly service: grpc.ServiceDefinition;
  readonly implementation: grpc.UntypedServiceImplementation;
  /** Called before the process ends because the engine is gone. */
  readonly onEngineGone?: () => void;
}

/** Listens on a free loopback port and prints its number: the first line the engine reads. */
export async function serve(options: ServeOptions): Promise<grpc.Server> {
  const server = new grpc.Server(unlimited);
  server.addService(options.service, options.implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  process.stdout.write(`${port}\n`);
  endWithEngine(options.onEngineGone);
  return server;
}

/**
 * The engine holds the other end of standard input and never writes to it: its end means that the engine is gone,
 * killed perhaps. Without this a plugin would outlive it. Standard input from elsewhere (a terminal, /dev/null) says nothing.
 */
function endWithEngine(onEngineGone: (() => void) | undefined): void {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.on("end", () => {
    onEngineGone?.();
    process.exit(0);
  });
  process.stdin.on("error", () => undefined);
  process.stdin.resume();
}

/** The engine's address: the only positional argument. Flags (`--logflow`, `-v=9`, `--tracing X`) come before it. */
export function engineAddress(args: readonly string[]): string | undefined {
  return args.filter((arg) => /^[^-].*:\d+$/.test(arg)).at(-1);
}

/** An error with the status the official Go plugins use for everything that went wrong. */
export function failure(error: unknown): Partial<grpc.StatusObject> {
  if (error instanceof grpc.StatusBuilder) return error.build();
  const details = error instanceof Error ? error.message : String(error);
  return { code: grpc.status.UNKNOWN, details };
}

type Answer<Request, Response> = (request: Request) => Response | Promise<Response>;

/** Turns a function into a gRPC handler: what it throws becomes the call's status. */
export function unary<Request, Response>(
  answer: Answer<Request, Response>,
): grpc.handleUnaryCall<Request, Response> {
  return (call, callback) => {
    Promise.resolve()
      .then(() => answer(call.request))
      .then(
        (response) => {
          callback(null, response);
        },
        (error: unknown) => {
          callback(failure(error));
        },
      );
  };
}

/** Handler of a method that this plugin does not have. */
export function unimplemented(method: string): grpc.handleUnaryCall<unknown, unknown> {
  return (_call, callback) => {
    callback({ code: grpc.status.UNIMPLEMENTED, details: `${method} is not implemented` });
  };
}
