/** Implements the LanguageRuntime service for Node programs, like Pulumi's language host. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import * as messages from "@pulumi/pulumi/proto/language_pb.js";
import { PackageDependency, PluginDependency, PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import type { EngineLog } from "../plugin/engine-log.js";
import { toGrpcError, createUnaryHandler, createUnimplementedHandler } from "../plugin/serve.js";
import { decodeStruct } from "../plugin/values.js";
import {
  getConfigEnvironment,
  inspectWorkaroundArguments,
  getProgramArguments,
  parseRuntimeOptions,
  resolveSdkScript,
  getTypescriptEnvironment,
} from "./command-line.js";
import type { RuntimeOptions } from "./command-line.js";
import { listDependencies, findPackageDirectory, listRequiredPlugins } from "./packages.js";

/**
 * Exit code of the SDK's runner if it has already shown the error to the user. The language host
 * then reports no further error.
 */
const exitedWithMessage = 32;

export interface LanguageHostOptions {
  readonly engine: string;
  readonly log: EngineLog;
  readonly env: NodeJS.ProcessEnv;
  /** Path of the Node executable. */
  readonly node: string;
}

type PluginCall = grpc.ServerWritableStream<messages.RunPluginRequest, messages.RunPluginResponse>;
type InstallCall = grpc.ServerWritableStream<
  messages.InstallDependenciesRequest,
  messages.InstallDependenciesResponse
>;

export class LanguageHost {
  private readonly children = new Set<ChildProcess>();
  private introduced = false;

  constructor(private readonly options: LanguageHostOptions) {}

  /** Returns handlers by method name, for a gRPC server. */
  handlers(): grpc.UntypedServiceImplementation {
    const missing = ["generateProgram", "generateProject", "generatePackage", "pack", "link"];
    return {
      ...Object.fromEntries(missing.map((method) => [method, createUnimplementedHandler(method)])),
      handshake: createUnaryHandler(() => new messages.LanguageHandshakeResponse()),
      getPluginInfo: createUnaryHandler(() => new PluginInfo()),
      about: createUnaryHandler((request: messages.AboutRequest) => this.about(request)),
      getRequiredPackages: createUnaryHandler(getRequiredPackages),
      getRequiredPlugins: createUnaryHandler(getRequiredPlugins),
      getProgramDependencies: createUnaryHandler(getProgramDependencies),
      runtimeOptionsPrompts: createUnaryHandler(() => new messages.RuntimeOptionsResponse()),
      template: createUnaryHandler(() => new messages.TemplateResponse()),
      installDependencies: (call: InstallCall) => {
        this.installDependencies(call);
      },
      run: createUnaryHandler((request: messages.RunRequest) => this.run(request)),
      runPlugin: (call: PluginCall) => {
        this.runPlugin(call);
      },
      cancel: createUnaryHandler(() => {
        this.stop();
        return new Empty();
      }),
    };
  }

  /** Stops the running programs. */
  stop(): void {
    for (const child of this.children) child.kill("SIGTERM");
  }

  private about(request: messages.AboutRequest): messages.AboutResponse {
    const directory = request.getInfo()?.getProgramDirectory() ?? process.cwd();
    const typescript = listDependencies(directory, false).find(({ name }) => name === "typescript");
    const response = new messages.AboutResponse()
      .setExecutable(this.options.node)
      .setVersion(process.version);
    response.getMetadataMap().set("packagemanager", "npm");
    if (typescript) response.getMetadataMap().set("typescriptVersion", typescript.version);
    return response;
  }

  private async run(request: messages.RunRequest): Promise<messages.RunResponse> {
    this.introduce();
    const info = request.getInfo();
    const options = optionsOf(info);
    const directory = info?.getProgramDirectory() ?? request.getPwd();
    const args = [
      ...inspectWorkaroundArguments,
      ...options.nodeArguments,
      resolveSdkScript(directory, "run"),
      ...getProgramArguments({
        monitor: request.getMonitorAddress(),
        engine: this.options.engine,
        project: request.getProject(),
        stack: request.getStack(),
        organization: request.getOrganization(),
        rootDirectory: info?.getRootDirectory() ?? directory,
        directory: request.getPwd(),
        dryRun: request.getDryrun(),
        queryMode: request.getQuerymode(),
        parallel: request.getParallel(),
        entryPoint: join(directory, info?.getEntryPoint() ?? "."),
        arguments: request.getArgsList(),
      }),
    ];
    const env = {
      ...this.options.env,
      ...getConfigEnvironment(request.getConfigMap().toArray(), request.getConfigsecretkeysList()),
      ...getTypescriptEnvironment(options),
    };
    const code = await this.finished(
      // The program inherits the output streams of this process. The engine reads them and shows
      // the program's output.
      this.start(args, { cwd: directory, env, stdio: ["ignore", "inherit", "inherit"] }),
    );
    const response = new messages.RunResponse();
    if (code === exitedWithMessage) return response.setBail(true);
    if (code === 0) return response;
    return response.setError(`Program exited with non-zero exit code: ${code}`);
  }

  private runPlugin(call: PluginCall): void {
    const { request } = call;
    const directory = request.getInfo()?.getProgramDirectory() ?? request.getPwd();
    const send = (fill: (response: messages.RunPluginResponse) => void): void => {
      const response = new messages.RunPluginResponse();
      fill(response);
      call.write(response);
    };
    this.streamed(call, {
      start: () => {
        const options = optionsOf(request.getInfo());
        const entry = join(directory, request.getInfo()?.getEntryPoint() ?? ".");
        const args = [...options.nodeArguments, resolveSdkScript(directory, "run-plugin"), entry];
        const env = { ...environment(request.getEnvList()), ...getTypescriptEnvironment(options) };
        return this.start([...args, ...request.getArgsList()], { cwd: request.getPwd(), env });
      },
      onOutput: (data) => {
        send((response) => response.setStdout(data));
      },
      onError: (data) => {
        send((response) => response.setStderr(data));
      },
      onExit: (code) => {
        send((response) => response.setExitcode(code));
      },
    });
  }

  private installDependencies(call: InstallCall): void {
    const program = call.request.getInfo()?.getProgramDirectory() ?? call.request.getDirectory();
    const directory = findPackageDirectory(program) ?? program;
    this.streamed(call, {
      start: () => spawn("npm", ["install", "--loglevel=error"], { cwd: directory }),
      onOutput: (data) => call.write(new messages.InstallDependenciesResponse().setStdout(data)),
      onError: (data) => call.write(new messages.InstallDependenciesResponse().setStderr(data)),
      onExit: (code) => {
        if (code !== 0)
          call.emit("error", toGrpcError(new Error(`npm install ended with code ${code}`)));
      },
    });
  }

  /** Runs a child process and sends its output to the caller of a gRPC streaming method. */
  private streamed(call: PluginCall | InstallCall, steps: Streamed): void {
    let child: ChildProcess;
    try {
      child = steps.start();
    } catch (error) {
      call.emit("error", toGrpcError(error));
      return;
    }
    this.children.add(child);
    child.stdout?.on("data", steps.onOutput);
    child.stderr?.on("data", steps.onError);
    call.on("cancelled", () => {
      child.kill("SIGTERM");
    });
    this.finished(child).then(
      (code) => {
        steps.onExit(code);
        call.end();
      },
      (error: unknown) => {
        call.emit("error", toGrpcError(error));
      },
    );
  }

  private start(
    args: readonly string[],
    how: { cwd: string; env: NodeJS.ProcessEnv; stdio?: ["ignore", "inherit", "inherit"] },
  ): ChildProcess {
    const child = spawn(this.options.node, args, { stdio: ["ignore", "pipe", "pipe"], ...how });
    this.children.add(child);
    return child;
  }

  /** Returns the exit code, or -1 if a signal ended the child, as in Go. */
  private finished(child: ChildProcess): Promise<number> {
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        this.children.delete(child);
        resolve(code ?? -1);
      });
    });
  }

  private introduce(): void {
    if (this.introduced) return;
    this.introduced = true;
    const text = "The Node language host is stackadm's stand-in for the official one.";
    this.options.log.send({ severity: "info", text });
  }
}

interface Streamed {
  readonly start: () => ChildProcess;
  readonly onOutput: (data: Buffer) => void;
  readonly onError: (data: Buffer) => void;
  readonly onExit: (code: number) => void;
}

function optionsOf(info: messages.ProgramInfo | undefined): RuntimeOptions {
  return parseRuntimeOptions(decodeStruct(info?.getOptions()));
}

function environment(list: readonly string[]): Record<string, string> {
  const pairs = list.map((entry) => [entry.split("=", 1)[0] ?? "", entry.replace(/^[^=]*=/, "")]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function getRequiredPackages(
  request: messages.GetRequiredPackagesRequest,
): messages.GetRequiredPackagesResponse {
  const directory = request.getInfo()?.getProgramDirectory() ?? process.cwd();
  const packages = listRequiredPlugins(directory).map(({ name, version, server }) =>
    new PackageDependency()
      .setKind("resource")
      .setName(name)
      .setVersion(version)
      .setServer(server ?? ""),
  );
  return new messages.GetRequiredPackagesResponse().setPackagesList(packages);
}

function getRequiredPlugins(
  request: messages.GetRequiredPluginsRequest,
): messages.GetRequiredPluginsResponse {
  const directory = request.getInfo()?.getProgramDirectory() ?? request.getPwd();
  const plugins = listRequiredPlugins(directory).map(({ name, version, server }) =>
    new PluginDependency()
      .setKind("resource")
      .setName(name)
      .setVersion(version)
      .setServer(server ?? ""),
  );
  return new messages.GetRequiredPluginsResponse().setPluginsList(plugins);
}

function getProgramDependencies(
  request: messages.GetProgramDependenciesRequest,
): messages.GetProgramDependenciesResponse {
  const directory = request.getInfo()?.getProgramDirectory() ?? request.getPwd();
  const found = listDependencies(directory, request.getTransitivedependencies());
  return new messages.GetProgramDependenciesResponse().setDependenciesList(
    found.map(({ name, version }) =>
      new messages.DependencyInfo().setName(name).setVersion(version),
    ),
  );
}
