/** Sends recorded requests to a provider. */
import type { ServiceError } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { decodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../stand-ins/plugin/values.js";
import { settle } from "./harness.js";

export interface Recorded {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly preview: boolean;
  /** Returns the property map with this name in the form in which it is sent. */
  readonly properties: (name: string) => Struct;
}

type Done<Response> = (error: ServiceError | null, response: Response) => void;
type Ask = (client: ResourceProviderClient, recorded: Recorded) => Promise<JsonObject>;

function asked<Response>(
  call: (done: Done<Response>) => unknown,
  read: (response: Response) => JsonObject,
): Promise<JsonObject> {
  return new Promise<Response>((resolve, reject) => {
    call(settle(resolve, reject));
  }).then(read);
}

export function ask(
  client: ResourceProviderClient,
  method: string,
  recorded: Recorded,
): Promise<JsonObject> {
  const chosen = methods[method];
  if (!chosen) throw new Error(`There is no way to replay ${method}.`);
  return chosen(client, recorded);
}

const methods: Readonly<Record<string, Ask>> = {
  Handshake: (client) =>
    asked<messages.ProviderHandshakeResponse>(
      (done) => client.handshake(new messages.ProviderHandshakeRequest(), done),
      (response) => ({
        acceptOutputs: response.getAcceptOutputs(),
        acceptResources: response.getAcceptResources(),
        acceptSecrets: response.getAcceptSecrets(),
      }),
    ),
  GetPluginInfo: (client) =>
    asked<{ getVersion(): string }>(
      (done) => client.getPluginInfo(new Empty(), done),
      (response) => ({ version: response.getVersion() }),
    ),
  Configure: (client) =>
    asked<messages.ConfigureResponse>(
      (done) => client.configure(new messages.ConfigureRequest(), done),
      (response) => ({
        acceptOutputs: response.getAcceptoutputs(),
        acceptResources: response.getAcceptresources(),
        acceptSecrets: response.getAcceptsecrets(),
        supportsPreview: response.getSupportspreview(),
      }),
    ),
  CheckConfig: (client, { urn, properties }) =>
    asked<messages.CheckResponse>(
      (done) =>
        client.checkConfig(
          new messages.CheckRequest().setUrn(urn).setNews(properties("news")),
          done,
        ),
      checkAnswer,
    ),
  DiffConfig: (client, { urn }) =>
    asked<messages.DiffResponse>(
      (done) => client.diffConfig(new messages.DiffRequest().setUrn(urn), done),
      diffAnswer,
    ),
  Check: (client, { urn, type, properties }) =>
    asked<messages.CheckResponse>(
      (done) =>
        client.check(
          new messages.CheckRequest().setUrn(urn).setType(type).setNews(properties("news")),
          done,
        ),
      checkAnswer,
    ),
  Diff: (client, { urn, type, id, properties }) =>
    asked<messages.DiffResponse>((done) => {
      const request = new messages.DiffRequest()
        .setUrn(urn)
        .setType(type)
        .setId(id)
        .setOlds(properties("olds"))
        .setOldInputs(properties("oldInputs"))
        .setNews(properties("news"));
      return client.diff(request, done);
    }, diffAnswer),
  Create: (client, { urn, type, name, preview, properties }) =>
    asked<messages.CreateResponse>(
      (done) => {
        const request = new messages.CreateRequest()
          .setUrn(urn)
          .setType(type)
          .setName(name)
          .setPreview(preview)
          .setProperties(properties("properties"));
        return client.create(request, done);
      },
      (response) => ({
        ...(response.getId() !== "" && { id: response.getId() }),
        properties: decodeStruct(response.getProperties()),
      }),
    ),
  Read: (client, { urn, type, id, properties }) =>
    asked<messages.ReadResponse>(
      (done) => {
        const request = new messages.ReadRequest()
          .setUrn(urn)
          .setType(type)
          .setId(id)
          .setInputs(properties("inputs"))
          .setProperties(properties("properties"));
        return client.read(request, done);
      },
      (response) => ({
        id: response.getId(),
        inputs: decodeStruct(response.getInputs()),
        properties: decodeStruct(response.getProperties()),
      }),
    ),
  Update: (client, { urn, type, id, properties }) =>
    asked<messages.UpdateResponse>(
      (done) => {
        const request = new messages.UpdateRequest()
          .setUrn(urn)
          .setType(type)
          .setId(id)
          .setOlds(properties("olds"))
          .setOldInputs(properties("oldInputs"))
          .setNews(properties("news"));
        return client.update(request, done);
      },
      (response) => ({ properties: decodeStruct(response.getProperties()) }),
    ),
  Delete: (client, { urn, type, id, properties }) =>
    asked<Empty>(
      (done) => {
        const request = new messages.DeleteRequest()
          .setUrn(urn)
          .setType(type)
          .setId(id)
          .setOldInputs(properties("oldInputs"))
          .setProperties(properties("properties"));
        return client.delete(request, done);
      },
      () => ({}),
    ),
};

function checkAnswer(response: messages.CheckResponse): JsonObject {
  const failures = response.getFailuresList().map((failure): Json => failure.getReason());
  return {
    inputs: decodeStruct(response.getInputs()),
    ...(failures.length > 0 && { failures }),
  };
}

/**
 * Returns the answer to a diff in the form of the transcripts. Transcripts leave out unchanged
 * fields.
 */
function diffAnswer(response: messages.DiffResponse): JsonObject {
  const kinds = ["ADD", "ADD_REPLACE", "DELETE", "DELETE_REPLACE", "UPDATE", "UPDATE_REPLACE"];
  const detailed: JsonObject = {};
  response.getDetaileddiffMap().forEach((change, path) => {
    detailed[path] = { kind: kinds[change.getKind()] ?? "" };
  });
  const changes = ["DIFF_UNKNOWN", "DIFF_NONE", "DIFF_SOME"];
  const replaces = response.getReplacesList();
  return {
    changes: changes[response.getChanges()] ?? "",
    hasDetailedDiff: response.getHasdetaileddiff(),
    ...(Object.keys(detailed).length > 0 && {
      detailedDiff: detailed,
      diffs: response.getDiffsList(),
    }),
    ...(replaces.length > 0 && { replaces }),
    ...(response.getDeletebeforereplace() && { deleteBeforeReplace: true }),
  };
}
