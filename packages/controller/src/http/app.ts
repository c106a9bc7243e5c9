import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import fastifyMultipart from '@fastify/multipart';
import { api, type Collection, type Route } from '@rushhour/contract';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { isAgentUpgrade } from '../agents/gateway/endpoint.ts';
import type { AiHandler } from '../ai/gateway/pipeline.ts';
import { serveAgentInstall } from './agent-install.ts';
import { createHandlers, type Services } from './all-handlers.ts';
import { serveDocs } from './docs.ts';
import { answerClientError, noRoute, sendError } from './errors.ts';
import { serveGuide } from './guide/guide.ts';
import { createHostCheck } from './host-check.ts';
import { parseJson, readBody } from './json-body.ts';
import { serveAi } from './mcp/ai-routes.ts';
import { type AnyHandler, mount } from './mount.ts';
import { createRequestMetrics, serveProbes } from './probes.ts';
import { createRateLimit } from './rate.ts';
import { createStreams } from './sse.ts';
import { createUploads } from './upload.ts';
import { sendPage, serveWeb, wantsPage } from './web.ts';

export interface AppOptions extends Services {
  log: FastifyBaseLogger;
  tls?: { cert: string; key: string } | undefined;
  /** Proxies whose `X-Forwarded-*` headers name the client. */
  trustedProxies?: string[] | undefined;
  /** The address or name that the controller listens at. */
  host: string;
  /** Further names in Host headers that mean this controller. */
  allowedHosts?: readonly string[] | undefined;
}

const maxHeaderBytes = 16 * 1024;

/** The whole HTTP side: every route of the contract, the documentation and the probes. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { log, tls, trustedProxies, host, allowedHosts, ...services } = options;
  const app = createFastify(log, tls, trustedProxies);
  addHostCheck(app, options);
  const rate = createRateLimit();
  const streams = createStreams(services.store.read);
  const uploads = createUploads();
  endConnectionsAtClose(app, streams);
  const metrics = createRequestMetrics();
  serveProbes(app, services, metrics);
  serveAgentInstall(app, services.installer);
  const { loadAll, ...created } = createHandlers({ ...services, log });
  const handlers = created.handlers as unknown as Record<string, Record<string, AnyHandler>>;
  const deps = { ...services, rate, streams, uploads, metrics };
  const mountAll = (scope: FastifyInstance, isWanted: (route: Route) => boolean) => {
    for (const [name, { routes }] of Object.entries(api) as [string, Collection][]) {
      for (const [operation, route] of Object.entries(routes)) {
        if (isWanted(route))
          mount(scope, `${name}.${operation}`, route, handlers[name]?.[operation] as AnyHandler, deps);
      }
    }
  };
  mountAll(app, ({ upload, ai }) => upload === undefined && ai === undefined);
  serveAi(app, handlers['aiGateway'] as unknown as Record<string, AiHandler>, { ...deps, log });
  // Forms are parsed in a separate scope, because their plugin costs time for every request in its scope.
  await app.register(async (scope) => {
    await scope.register(fastifyMultipart, { throwFileSizeLimit: false });
    mountAll(scope, ({ upload }) => upload !== undefined);
  });
  serveDocs(app);
  serveGuide(app);
  await serveWeb(app);
  services.agents.attach(app.server);
  const loadRest = () =>
    Promise.all([loadAll(), metrics.load()]).catch((error) =>
      log.error({ err: error }, 'could not load a part of the controller'),
    );
  app.addHook('onListen', (done) => {
    // After the listeners of `ready` have run.
    setImmediate(loadRest);
    done();
  });
  return app;
};

/** The connections that are open. */
const socketsOf = ({ server }: FastifyInstance): ReadonlySet<Socket> => {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
};

const endConnectionsAtClose = (app: FastifyInstance, streams: ReturnType<typeof createStreams>) => {
  const sockets = socketsOf(app);
  app.addHook('preClose', async () => {
    streams.endAll();
    // Browsers and clients open connections in advance; the server would wait for a first request on them.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    // Connections whose last request is still being answered would stay open for a next one that never comes.
    app.server.keepAliveTimeout = 1;
  });
};

const addHostCheck = (app: FastifyInstance, { host, allowedHosts: allowed = [], tls }: AppOptions) => {
  const checkHost = createHostCheck({ host, allowed, tls });
  app.addHook('onRequest', (request, _reply, done) => {
    checkHost(request.raw);
    done();
  });
};

const addBodyParsers = (app: FastifyInstance) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*;?$/i,
    async (request: FastifyRequest, payload: IncomingMessage) => {
      // Without a route there is no limit, and the body is not read.
      if (request.is404) return undefined;
      const bytes = await readBody(payload, request.bodyLimitBytes);
      request.bodyBytes = bytes.length;
      return parseJson(bytes);
    },
  );
  app.addContentTypeParser(
    'application/octet-stream',
    async (_request: FastifyRequest, payload: IncomingMessage) => payload,
  );
};

const createFastify = (
  log: FastifyBaseLogger,
  tls: AppOptions['tls'],
  trustedProxies: AppOptions['trustedProxies'],
): FastifyInstance => {
  const boot = Date.now().toString(36);
  let requests = 0;
  const app = Fastify<Server>({
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: a child for each request costs more than most requests, and errors carry the id themselves.
    // It is set only here: with a logger option Fastify would listen for the end of every response.
    childLoggerFactory: () => log,
    genReqId: () => `${boot}-${(requests++).toString(36)}`,
    ...(trustedProxies && { trustProxy: trustedProxies }),
    // Time-outs are explicit: headers and idle connections here, bodies where they are read.
    connectionTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    http: { maxHeaderSize: maxHeaderBytes, headersTimeout: 20_000, shouldUpgradeCallback: isAgentUpgrade },
    ...(tls && { https: { ...tls, maxHeaderSize: maxHeaderBytes, shouldUpgradeCallback: isAgentUpgrade } as never }),
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: sendError as never,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 256 },
  });
  // Declared up front: members added later change the shape of each request object and slow it down.
  app.decorateRequest('caller', null as never);
  app.decorateRequest('startedMs', 0);
  app.decorateRequest('bodyLimitBytes', 0);
  app.decorateRequest('bodyBytes', 0);
  // Compiled at the first answer, like the validators.
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ((reply: unknown) => string) | undefined;
    return (reply) => {
      serialize ??= fastJsonStringify(schema as Schema);
      return serialize(reply);
    };
  });
  addBodyParsers(app as unknown as FastifyInstance);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request) ? sendPage(reply) : sendError(noRoute(request.method, request.url), request, reply),
  );
  return app as unknown as FastifyInstance;
};
