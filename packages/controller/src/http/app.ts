import type { IncomingMessage, Server } from 'node:http';
import fastifyMultipart from '@fastify/multipart';
import { api, type Collection, type Route } from '@rushhour/contract';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { createHandlers, type Services } from '../collections/index.ts';
import { ApiError } from '../errors.ts';
import { serveDocs } from './docs.ts';
import { answerClientError, sendError } from './errors.ts';
import { parseJson, readBody } from './json-body.ts';
import { type AnyHandler, mount } from './mount.ts';
import { serveProbes } from './probes.ts';
import { createRateLimit } from './rate.ts';
import { createStreams } from './sse.ts';
import { createUploads } from './upload.ts';

export interface AppOptions extends Services {
  log: FastifyBaseLogger;
  tls?: { cert: string; key: string } | undefined;
}

const maxHeaderBytes = 16 * 1024;
const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** The whole HTTP side: every route of the contract, the documentation and the probes. */
export const buildApp = async ({ log, tls, ...services }: AppOptions): Promise<FastifyInstance> => {
  const app = createFastify(log, tls);
  const rate = createRateLimit();
  const streams = createStreams();
  const uploads = createUploads();
  app.addHook('preClose', async () => streams.endAll());
  await app.register(fastifyMultipart, { throwFileSizeLimit: false });
  await serveProbes(app, services.health);
  const handlers = createHandlers(services) as unknown as Record<string, Record<string, AnyHandler>>;
  for (const [name, { routes }] of Object.entries(api) as [string, Collection][]) {
    for (const [operation, route] of Object.entries(routes)) {
      const handler = handlers[name]?.[operation] as AnyHandler;
      mount(app, `${name}.${operation}`, route, handler, { ...services, rate, streams, uploads });
    }
  }
  refuseOtherMethods(
    app,
    Object.values(api as Record<string, Collection>).flatMap(({ routes }) => Object.values(routes)),
  );
  await serveDocs(app);
  return app;
};

const createFastify = (log: FastifyBaseLogger, tls: AppOptions['tls']): FastifyInstance => {
  const boot = Date.now().toString(36);
  let requests = 0;
  const app = Fastify<Server>({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => `${boot}-${(requests++).toString(36)}`,
    // Time-outs are explicit: headers and idle connections here, bodies where they are read.
    connectionTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    http: { maxHeaderSize: maxHeaderBytes, headersTimeout: 20_000 },
    ...(tls && { https: { ...tls, maxHeaderSize: maxHeaderBytes } as never }),
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: sendError as never,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 256 },
  });
  // Compiled at the first answer, like the validators.
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ((reply: unknown) => string) | undefined;
    return (reply) => {
      serialize ??= fastJsonStringify(schema as Schema);
      return serialize(reply);
    };
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*;?$/i,
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const bytes = await readBody(payload, request.bodyLimitBytes);
      request.bodyBytes = bytes.length;
      return parseJson(bytes);
    },
  );
  app.addContentTypeParser(
    'application/octet-stream',
    async (_request: FastifyRequest, payload: IncomingMessage) => payload,
  );
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) =>
    sendError(
      new ApiError('notFound', 'NO_SUCH_ROUTE', `there is no ${request.url.split('?')[0]?.slice(0, 200)}`),
      request,
      reply,
    ),
  );
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  return app as unknown as FastifyInstance;
};

/** A known path with another method is 405 with `Allow`, not 404. */
const refuseOtherMethods = (app: FastifyInstance, routes: readonly Route[]) => {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  for (const [path, known] of byPath) {
    const allowed = new Set<string>(known.map(({ method }) => method));
    if (known.some(({ method, events }) => method === 'GET' && !events)) allowed.add('HEAD');
    const allow = [...allowed].join(', ');
    app.route({
      method: everyMethod.filter((method) => !allowed.has(method)),
      url: `/v1${path}`,
      // Before any body is read: nothing about it matters.
      onRequest: async (request) => {
        throw new ApiError(
          'methodNotAllowed',
          'METHOD_NOT_ALLOWED',
          `${request.method} is not possible here: ${allow}`,
          { allow },
        );
      },
      handler: async () => {},
    });
  }
};
