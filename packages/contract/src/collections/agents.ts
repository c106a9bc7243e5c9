import { Type } from 'typebox';
import { crudRoutes } from '../crud.ts';
import { BulkResult, Data, IdParams, Ids, ListQuery, ManyIds, OneOf, Page } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id } from '../scalars.ts';
import { AgentCapabilities, AgentHealthPoint, AgentLogLine, logLevels } from './agent-details.ts';
import { Agent, AgentDraft, AgentInterface, AgentSummary } from './agent-fields.ts';
import { agentTokenRoutes } from './agent-tokens.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const force = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));

const { list, update, get } = crudRoutes({
  path: '/agents',
  noun: 'agent',
  item: Agent,
  draft: AgentDraft,
  query: ListQuery(
    ['id', 'name', 'hostname', 'version', 'status', 'cpuCores', 'memoryMb', 'enrolledAt', 'lastSeenAt', 'updatedAt'],
    {
      status: Type.Optional(
        Type.String({ pattern: '^[0-7](,[0-7])*$', maxLength: 32, description: 'One of these, joined by commas' }),
      ),
      tag: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32, description: 'Has all of these; may be repeated' }),
      ),
      plugin: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Can run this plugin' })),
      free: Type.Optional(Type.Boolean({ description: 'true: online, without work and reserved by nobody' })),
    },
  ),
  read: 'agents.read',
  write: 'agents.write',
});

const ofAgent = <const P extends string>(path: P, summary: string) =>
  ({
    method: 'GET',
    path: `/agents/:id/${path}` as `/agents/:id/${P}`,
    summary,
    access: 'agents.read',
    params: IdParams,
  }) as const;

const item = { id: Id, ok: Type.Boolean(), error: Type.Optional(Type.String()), code: Type.Optional(Type.String()) };

export const agents = collection({
  tag: 'agents',
  title: 'Agents',
  routes: {
    list,
    update,
    get,
    all: route({
      method: 'GET',
      path: '/agents/all',
      summary: 'All agents, light',
      access: 'agents.read',
      reply: Page(AgentSummary),
    }),
    removeMany: route({
      method: 'DELETE',
      path: '/agents',
      summary: 'Remove agents, all or none; their credentials are worth nothing from then on',
      access: 'agents.write',
      body: ManyIds,
      reply: Ids,
      errors: [404, 409],
    }),
    ...agentTokenRoutes,
    block: route({
      method: 'PATCH',
      path: '/agents/block',
      summary: 'Refuse agents work and connection; runs on them follow the policy for lost agents',
      access: 'agents.write',
      body: ManyIds,
      reply: BulkResult,
    }),
    unblock: route({
      method: 'PATCH',
      path: '/agents/unblock',
      summary: 'Let blocked agents come back',
      access: 'agents.write',
      body: ManyIds,
      reply: BulkResult,
    }),
    interfaces: route({
      ...ofAgent('interfaces', 'Network interfaces of an agent'),
      query: Type.Object({
        rescan: Type.Optional(Type.Boolean({ description: 'The agent looks again before the answer' })),
      }),
      reply: Page(AgentInterface),
      errors: [404, 409],
    }),
    capabilities: route({
      ...ofAgent('capabilities', 'What an agent can do, and what keeps it from the rest'),
      reply: Data(AgentCapabilities),
      errors: [404],
    }),
    metrics: route({
      ...ofAgent('metrics', "Health of an agent's machine: the latest, and a series when a span is given"),
      query: Type.Object({
        from: time('Start of the series; an hour before its end when left out. Kept for 24 hours'),
        to: time('End of the series; now when left out'),
        step: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 3600, description: 'Seconds that are averaged; 10 when left out' }),
        ),
      }),
      reply: Data(
        Type.Object({
          latest: Type.Union([AgentHealthPoint, Type.Null()]),
          series: Type.Array(AgentHealthPoint, { description: 'Empty unless `from`, `to` or `step` is given' }),
        }),
      ),
      errors: [404],
    }),
    logs: route({
      ...ofAgent('logs', 'Log lines of an agent, newest first'),
      query: Type.Object({
        count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Rows on a page' })),
        page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1, description: 'Page, from 1' })),
        level: Type.Optional(OneOf(logLevels, { description: 'This level and above' })),
        since: time('Not older than this'),
        search: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the source or message' })),
      }),
      reply: Page(AgentLogLine),
      errors: [404],
    }),
    reserve: route({
      method: 'PATCH',
      path: '/agents/reserve',
      summary: 'Reserve agents for yourself; what you have reserved already is prolonged',
      access: 'agents.execute',
      body: Type.Object(
        {
          ...ManyIds.properties,
          reason: Type.Optional(Type.String({ maxLength: 1024, default: '' })),
          until: time('At most `settings.agents.maxReservationSec` from now; an hour when left out'),
          force: force('Also those reserved by others; needs agents.reserveForce'),
        },
        closed,
      ),
      reply: Data(
        Type.Array(
          Type.Object(
            {
              ...item,
              fence: Type.Optional(
                Type.Integer({ description: 'Rises with every reservation: an older number holds nothing' }),
              ),
              owner: Type.Optional(Type.Object({ id: Id, email: Type.String(), realName: Type.String() })),
            },
            { title: 'ReservationItem' },
          ),
        ),
      ),
      errors: [404, 409],
    }),
    release: route({
      method: 'PATCH',
      path: '/agents/release',
      summary: 'Give reserved agents back',
      access: 'agents.execute',
      body: Type.Object(
        { ...ManyIds.properties, force: force('Also those reserved by others; needs agents.reserveForce') },
        closed,
      ),
      reply: BulkResult,
      errors: [404],
    }),
    actions: route({
      method: 'POST',
      path: '/agents/actions',
      summary: 'Ping, restart, rescan, upgrade agents or collect their logs; slow ones report in notifications',
      access: 'agents.execute',
      body: Type.Object(
        {
          ...ManyIds.properties,
          action: OneOf(['ping', 'restart', 'rescan', 'upgrade', 'collectLogs']),
          params: Type.Optional(
            Type.Object(
              {
                fileId: Type.Optional(Id),
                version: Type.Optional(
                  Type.String({
                    pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}$',
                    description: 'Takes the stored file `rushhour-agent-VERSION.tgz`',
                  }),
                ),
              },
              { ...closed, description: '`upgrade` needs one of them' },
            ),
          ),
          force: force('Restart or upgrade agents that are busy, too'),
        },
        closed,
      ),
      reply: Data(
        Type.Object({
          operationId: Type.String({ description: 'Named by the notifications about it' }),
          results: Type.Array(
            Type.Object(
              { ...item, rttMs: Type.Optional(Type.Number({ description: 'Round trip of a ping' })) },
              { title: 'ActionItem' },
            ),
          ),
        }),
      ),
      errors: [404, 409],
    }),
  },
});
