import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { addConnectionOptions, addOutputOption, type CommonOptions } from '../common-options.ts';
import { connect, withRefresh } from '../connection/connection.ts';
import { UsageError } from '../exit-codes.ts';
import { formatOf, printEvents, printReply, write } from '../output/print.ts';
import type { CollectionDigest, Digest, RouteDigest } from '../routes/route-digest.ts';
import { accessText, exampleOf, optionText } from './operation-help.ts';
import { type Parts, requestOf } from './request-of.ts';

interface Operation {
  /** Of the collection in the client. */
  readonly name: string;
  readonly tag: string;
  readonly operation: string;
  readonly route: RouteDigest;
}

interface CallOptions extends CommonOptions {
  readonly json?: string;
  readonly file?: string;
  readonly save?: string;
}

const collect = (text: string, before: readonly string[] | undefined) => [...(before ?? []), text];

const addRouteOptions = (command: Command, route: RouteDigest) => {
  for (const spec of route.options) {
    const value = spec.kind === 'flag' ? '[true|false]' : '<value>';
    const option = new Option(`--${spec.name} ${value}`, optionText(spec)).argParser(collect).helpGroup('Request:');
    if (spec.choices) option.argChoices = [...spec.choices];
    command.addOption(option);
  }
  if (route.hasBody) {
    const description = 'the whole body as JSON, or from a file in JSON or YAML; options are laid over it';
    command.addOption(new Option('--json <text|@file|@->', description).helpGroup('Request:'));
  }
  if (route.isUpload || route.isChunk) {
    command.addOption(new Option('--file <path>', 'the file whose content is sent').helpGroup('Request:'));
  }
  if (route.download) command.addOption(new Option('--save <path>', 'write to this file instead of standard output'));
};

/** Values of the path may be given without their names: `rushhour tasks get 12`. */
const pathNames = (route: RouteDigest) =>
  route.options.filter(({ parts }) => parts.includes('params')).map(({ name }) => name);

const givenOptions = (command: Command, route: RouteDigest) => {
  const opts = command.opts() as Record<string, unknown>;
  const named = route.options.flatMap(({ name }) =>
    opts[name] === undefined ? [] : [[name, [opts[name]].flat().map(String)]],
  );
  const placed = pathNames(route).flatMap((name, i) =>
    command.args[i] === undefined ? [] : [[name, [command.args[i]]]],
  );
  return Object.fromEntries([...named, ...placed]) as Record<string, string[]>;
};

const assertPath = (route: RouteDigest, { params }: Parts) => {
  const missing = pathNames(route).filter((name) => params[name] === undefined);
  if (missing.length > 0) throw new UsageError(`needs ${missing.map((name) => `--${name}`).join(' and ')}`);
};

const save = async (reply: Response, path: string | undefined) => {
  if (path !== undefined && reply.body) return pipeline(Readable.fromWeb(reply.body as never), createWriteStream(path));
  await write(new Uint8Array(await reply.arrayBuffer()));
};

type Call = (request: Parts, options: { headers: Record<string, string> }) => Promise<unknown>;

/** A file is sent in one piece, whatever the pieces of an upload before. */
const headersFor = ({ chunk }: Parts): Record<string, string> =>
  chunk === undefined || chunk.size === 0 ? {} : { 'content-range': `bytes 0-${chunk.size - 1}/${chunk.size}` };

const isEvents = (reply: unknown): reply is Parameters<typeof printEvents>[0] =>
  typeof reply === 'object' && reply !== null && Symbol.asyncIterator in reply;

const call = async (digest: Digest, { name, operation, route }: Operation, command: Command) => {
  const { url, token, caCert, json, file, save: path, output } = command.opts<CallOptions>();
  const options = givenOptions(command, route);
  const request = await requestOf(route, { options, ...(json && { json }), ...(file && { file }) });
  assertPath(route, request);
  const connection = await connect(digest, { ...(url && { url }), ...(token && { token }), ...(caCert && { caCert }) });
  const reply = await withRefresh(connection, (client) => {
    const operations = client[name as keyof typeof client] as unknown as Record<string, Call>;
    return (operations[operation] as Call)(request, { headers: headersFor(request) });
  });
  if (name === 'auth') connection.save();
  if (route.download) return save(reply as Response, path);
  return isEvents(reply) ? printEvents(reply, formatOf(output)) : printReply(reply, formatOf(output));
};

const operationCommand = (digest: Digest, operation: Operation): Command => {
  const { route, tag } = operation;
  const command = new Command(operation.operation).description(route.summary).summary(route.summary);
  for (const name of pathNames(route)) command.argument(`[${name}]`);
  addRouteOptions(command, route);
  addOutputOption(command);
  addConnectionOptions(command);
  command.addHelpText(
    'after',
    `\n${accessText(route.access)}\n${route.method} /v1${route.path}\n\nExample:\n  ${exampleOf(tag, operation.operation, route)}`,
  );
  return command.action(() => call(digest, operation, command));
};

/** The commands of a collection: one for each of its operations. */
export const collectionCommand = (digest: Digest, name: string, words: readonly string[]): Command => {
  const { tag, title, routes } = digest[name] as CollectionDigest;
  const command = new Command(tag).description(`${title}: ${Object.keys(routes).length} operations`);
  for (const [operation, route] of Object.entries(routes)) {
    // Options are made for the operation that is called: those of all take a tenth of a call.
    const isCalled = words.includes(operation);
    command.addCommand(
      isCalled
        ? operationCommand(digest, { name, tag, operation, route })
        : new Command(operation).description(route.summary),
    );
  }
  return command;
};
