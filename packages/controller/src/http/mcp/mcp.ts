import { Readable } from 'node:stream';
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  fromJsonSchema,
  type InputRequiredResult,
  type McpRequestContext,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Visit } from '../../ai/gateway/call.ts';
import type { AiHandler, Pipeline } from '../../ai/gateway/pipeline.ts';
import { partsOfArguments, type Tool, tools } from '../../ai/gateway/tools.ts';
import { isOpenTo } from '../../ai/keys/scopes.ts';
import { ApiError } from '../../errors.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { validatorFor } from '../validation.ts';
import { createConsent, type RunTool } from './mcp-consent.ts';
import { instructions, registerPrompts } from './mcp-prompts.ts';
import { visitOf } from './mount-ai.ts';

export interface McpDeps {
  ai: Pipeline;
  handlers: Record<string, AiHandler>;
  log: FastifyBaseLogger;
  store: { secrets: Pick<Secrets, 'derive'> };
}

export type Who = Awaited<ReturnType<Pipeline['enter']>>;
interface Session {
  who: Who;
  visitFor(operation: string): Visit;
}

/** The pipeline checks arguments, so REST and MCP refuse the same input with the same message. */
const unchecked = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
};
const output = fromJsonSchema(
  { type: 'object', properties: { cursor: { type: 'object' }, data: {} }, required: ['cursor', 'data'] },
  unchecked,
);
const checks = new Map(tools.map((tool) => [tool.key, validatorFor(tool.route)]));
const schemas = new Map(tools.map((tool) => [tool.key, fromJsonSchema(tool.input as never, unchecked)]));

const serializers = new Map<string, (reply: unknown) => string>();
/** Serialized as in REST: members that the reply schema does not name are dropped. */
const textOf = ({ key, route }: Tool, reply: unknown): string => {
  let serialize = serializers.get(key);
  serialize ??= fastJsonStringify(route.reply as Schema);
  serializers.set(key, serialize);
  return serialize(reply);
};

const refusalOf = (error: unknown): CallToolResult => {
  const { code, message, data } =
    error instanceof ApiError ? error : new ApiError('internal', 'INTERNAL', 'internal error', { retryable: true });
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify({ data: { code, ...data }, error: message }) }],
  };
};

/** Runs tools of the gateway for a session; `answer` also handles the dialogue about approvals. */
const createToolRunner = ({ ai, handlers, log }: McpDeps, dialogue: ReturnType<typeof createConsent>) => {
  const run = async ({ visitFor }: Session, tool: Tool, given: Record<string, unknown>, consent?: string) => {
    const call = await ai.admit(visitFor(tool.operation), tool.route);
    if (consent !== undefined) call.noteAudit({ consent });
    const check = checks.get(tool.key) as ReturnType<typeof validatorFor>;
    const readParts = () =>
      check({ ...partsOfArguments(tool.route, structuredClone(given)), headers: {}, bodyBytes: 0 } as never);
    return textOf(tool, await ai.run(call, readParts, handlers[tool.key] as AiHandler));
  };
  const runNamed = (session: Session): RunTool => {
    const named = (key: string) => tools.find((tool) => tool.key === key) as Tool;
    return (key, given, consent) => run(session, named(key), given, consent);
  };
  const answer = async (
    session: Session,
    tool: Tool,
    given: Record<string, unknown>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> => {
    try {
      const resumed = await dialogue.resume(runNamed(session), given, context);
      const text = resumed ?? (await run(session, tool, given));
      const question = resumed === undefined ? await dialogue.ask(tool, text, context) : undefined;
      if (question !== undefined) return question;
      return { structuredContent: JSON.parse(text), content: [{ type: 'text', text }] };
    } catch (error) {
      if (!(error instanceof ApiError)) log.error({ err: error, operation: tool.operation }, 'tool failed');
      return refusalOf(error);
    }
  };

  return { run, answer };
};

/** A stateless MCP server: every operation of the gateway is a tool and runs through the same pipeline. */
export const createMcp = (deps: McpDeps) => {
  const { ai, log, store } = deps;
  const dialogue = createConsent(store.secrets.derive('mcp-state', 'v1'));
  const { run, answer } = createToolRunner(deps, dialogue);
  const serverFor = ({ authInfo }: McpRequestContext) => {
    const session = authInfo?.extra?.['session'] as Session;
    const info = { name: 'rushhour', version: '1.0' };
    const server = new McpServer(info, { requestState: { verify: dialogue.verify }, instructions });
    registerPrompts(server);
    const open = tools.filter((tool) => isOpenTo(session.who.key, tool.ai));
    for (const tool of open) {
      const { description, ai: operation } = tool;
      server.registerTool(
        operation.tool,
        {
          title: titleOf(operation.tool),
          description,
          inputSchema: schemas.get(tool.key) as NonNullable<ReturnType<typeof schemas.get>>,
          outputSchema: output,
          annotations: { ...operation.annotations },
        },
        (given: unknown, context: ServerContext) =>
          answer(session, tool, (given ?? {}) as Record<string, unknown>, context),
      );
    }
    for (const [name, { template, key }] of Object.entries(resources)) {
      const tool = open.find((candidate) => candidate.key === key);
      if (tool) registerResource(server, { name, template }, (given) => run(session, tool, given));
    }
    return server;
  };
  const handler = createMcpHandler(serverFor, { onerror: (error) => log.debug({ err: error }, 'mcp') });
  return {
    answer: async (request: FastifyRequest, reply: FastifyReply) => {
      const session = { who: request.mcpWho as Who, visitFor: visitsOf(request, reply) };
      countListings(ai, session.who, request.body);
      await refuseHidden(ai, session, request.body);
      const response = await handler.fetch(webRequestOf(request), {
        authInfo: authInfoOf(session),
        ...(request.body !== undefined && request.body !== null && { parsedBody: request.body }),
      });
      return relay(response, reply, () => ai.recheck(session.visitFor('aiGateway.mcp'), session.who));
    },
    close: () => handler.close(),
  };
};

export type McpServing = ReturnType<typeof createMcp>;

/** `task_start_request` → `Task start request` */
const titleOf = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;

const resources = {
  task: { template: 'rushhour://tasks/{id}', key: 'task' },
  'task report': { template: 'rushhour://tasks/{id}/report', key: 'taskReport' },
  agent: { template: 'rushhour://agents/{id}', key: 'agent' },
  schema: { template: 'rushhour://schemas/{name}', key: 'schema' },
};

const registerResource = (
  server: McpServer,
  { name, template }: { name: string; template: string },
  read: (given: Record<string, unknown>) => Promise<string>,
) =>
  server.registerResource(
    name,
    new ResourceTemplate(template, { list: undefined }),
    { mimeType: 'application/json' },
    async (uri, variables) => {
      const given = Object.fromEntries(
        Object.entries(variables).map(([member, value]) => [member, member === 'id' ? Number(value) : String(value)]),
      );
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text: await read(given) }] };
    },
  );

interface Message {
  method?: string;
  params?: { name?: string; _meta?: Record<string, unknown> };
}

/** Calls of tools and reads of resources count as operations; everything else, such as lists, counts as a request. */
const countListings = (ai: Pipeline, who: Who, body: unknown) => {
  for (const message of [body].flat()) {
    const { method } = (message ?? {}) as Message;
    if (method !== 'tools/call' && method !== 'resources/read') ai.count(who);
  }
};

/** A tool that the key has no scope for is refused like the operation, with an entry in the audit. */
const refuseHidden = async (ai: Pipeline, { who, visitFor }: Session, body: unknown) => {
  const { method, params } = (body ?? {}) as Message;
  const tool = method === 'tools/call' ? tools.find(({ ai: { tool: name } }) => name === params?.name) : undefined;
  if (tool && !isOpenTo(who.key, tool.ai)) await ai.admit(visitFor(tool.operation), tool.route);
};

const visitsOf = (request: FastifyRequest, reply: FastifyReply) => {
  const info = (request.body as Message | undefined)?.params?._meta?.[CLIENT_INFO_META_KEY] as
    | { name?: unknown; version?: unknown }
    | undefined;
  const mcpClient = info && { name: String(info.name).slice(0, 64), version: String(info.version).slice(0, 32) };
  const visit = visitOf('', request, reply);
  return (operation: string): Visit => ({ ...visit, operation, transport: 'mcp', mcpClient });
};

/** The SDK does not need the token; without it, it cannot log it. */
const authInfoOf = (session: Session) => ({
  token: '',
  clientId: String(session.who.key.id),
  scopes: [...session.who.key.effectiveScopes],
  expiresAt: Math.floor(Date.parse(session.who.key.expiresAt) / 1000),
  extra: { session },
});

const webRequestOf = (request: FastifyRequest) => {
  const { 'x-api-key': _, authorization: __, cookie: ___, 'content-length': ____, ...headers } = request.headers;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  return new Request(`${request.protocol}://${request.headers.host ?? 'localhost'}/mcp`, {
    method: request.method,
    headers: given,
    ...(request.method === 'POST' && { body: JSON.stringify(request.body ?? null) }),
  });
};

const recheckMs = 2000;

/** Answers with the response. A stream ends soon after `recheck` refuses, which it is asked while the stream is open. */
const relay = (response: Response, reply: FastifyReply, recheck: () => Promise<void>) => {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  if (response.body === null) return reply.send('');
  const body = Readable.fromWeb(response.body as never);
  const timer = setInterval(() => void recheck().catch(() => body.destroy()), recheckMs);
  body.once('close', () => clearInterval(timer));
  return reply.send(body);
};
