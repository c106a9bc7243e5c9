import { Type } from 'typebox';
import { crudRoutes } from '../../crud.ts';
import { BulkResult, Data, IdParams, Ids, ListQuery, ManyIds, Page } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id } from '../../scalars.ts';
import { Component, OneOf, optional, StrictObject, strict } from '../../schema.ts';
import { Agent, AgentDraft, AgentInterface, AgentSummary } from './agent.ts';
import { AgentCapabilities, AgentHealthPoint, AgentLogLine, logLevels } from './agent-details.ts';
import { agentTokenRoutes } from './agent-tokens.ts';

const time = (description: string) => optional.string({ format: 'date-time', description });
const force = (description: string) => optional.flag(description, false);

const { list, update, get } = crudRoutes({
  path: '/agents',
  noun: 'agent',
  item: Agent,
  draft: AgentDraft,
  query: ListQuery(
    ['id', 'name', 'hostname', 'version', 'status', 'cpuCores', 'memoryMb', 'enrolledAt', 'lastSeenAt', 'updatedAt'],
    {
      status: optional.string({
        pattern: '^[0-7](,[0-7])*$',
        maxLength: 32,
        description: 'One of these, joined by commas',
      }),
      tag: optional.array(Type.String({ maxLength: 64 }), {
        maxItems: 32,
        description: 'Has all of these; may be repeated',
      }),
      plugin: optional.integer([1, 10_000], 'Can run this plugin'),
      free: optional.flag('true: online, without work and reserved by nobody'),
    },
  ),
  permissions: 'agents',
});
const item = { id: Id, ok: Type.Boolean(), error: Type.Optional(Type.String()), code: Type.Optional(Type.String()) };

export const agents = collection({
  tag: 'agents',
  title: 'Agents',
  routes: {
    list,
    update,
    get,
    all: route('GET /agents/all', {
      summary: 'All agents, light',
      access: 'agents.read',
      reply: Page(AgentSummary),
    }),
    removeMany: route('DELETE /agents', {
      summary: 'Remove agents, all or none; their credentials are worth nothing from then on',
      access: 'agents.write',
      body: ManyIds,
      reply: Ids,
      errors: [404, 409],
    }),
    ...agentTokenRoutes,
    block: route('PATCH /agents/block', {
      summary: 'Refuse agents work and connection; runs on them follow the policy for lost agents',
      access: 'agents.write',
      body: ManyIds,
      reply: BulkResult,
    }),
    unblock: route('PATCH /agents/unblock', {
      summary: 'Let blocked agents come back',
      access: 'agents.write',
      body: ManyIds,
      reply: BulkResult,
    }),
    interfaces: route('GET /agents/:id/interfaces', {
      summary: 'Network interfaces of an agent',
      access: 'agents.read',
      params: IdParams,
      query: Type.Object({
        rescan: optional.flag('The agent looks again before the answer'),
      }),
      reply: Page(AgentInterface),
      errors: [404, 409],
    }),
    capabilities: route('GET /agents/:id/capabilities', {
      summary: 'What an agent can do, and what keeps it from the rest',
      access: 'agents.read',
      params: IdParams,
      reply: Data(AgentCapabilities),
      errors: [404],
    }),
    metrics: route('GET /agents/:id/metrics', {
      summary: "Health of an agent's machine: the latest, and a series when a span is given",
      access: 'agents.read',
      params: IdParams,
      query: Type.Object({
        from: time('Start of the series; an hour before its end when left out. Kept for 24 hours'),
        to: time('End of the series; now when left out'),
        step: optional.integer([1, 3600], 'Seconds that are averaged; 10 when left out'),
      }),
      reply: Data(
        Type.Object({
          latest: Type.Union([AgentHealthPoint, Type.Null()]),
          series: Type.Array(AgentHealthPoint, { description: 'Empty unless `from`, `to` or `step` is given' }),
        }),
      ),
      errors: [404],
    }),
    logs: route('GET /agents/:id/logs', {
      summary: 'Log lines of an agent, newest first',
      access: 'agents.read',
      params: IdParams,
      query: Type.Object({
        count: optional.integer([1, 100], 'Rows on a page', 20),
        page: optional.integer([1, 1e9], 'Page, from 1', 1),
        level: optional.oneOf(logLevels, { description: 'This level and above' }),
        since: time('Not older than this'),
        search: optional.text(200, 'Part of the source or message'),
      }),
      reply: Page(AgentLogLine),
      errors: [404],
    }),
    reserve: route('PATCH /agents/reserve', {
      summary: 'Reserve agents for yourself; what you have reserved already is prolonged',
      access: 'agents.execute',
      body: StrictObject({
        ...ManyIds.properties,
        reason: optional.string({ maxLength: 1024, default: '' }),
        until: time('At most `settings.agents.maxReservationSec` from now; an hour when left out'),
        force: force('Also those reserved by others; needs agents.reserveForce'),
      }),
      reply: Data(
        Type.Array(
          Component('ReservationItem', {
            ...item,
            fence: Type.Optional(
              Type.Integer({ description: 'Rises with every reservation: an older number holds nothing' }),
            ),
            owner: Type.Optional(Type.Object({ id: Id, email: Type.String(), realName: Type.String() })),
          }),
        ),
      ),
      errors: [404, 409],
    }),
    release: route('PATCH /agents/release', {
      summary: 'Give reserved agents back',
      access: 'agents.execute',
      body: StrictObject({
        ...ManyIds.properties,
        force: force('Also those reserved by others; needs agents.reserveForce'),
      }),
      reply: BulkResult,
      errors: [404],
    }),
    actions: route('POST /agents/actions', {
      summary: 'Ping, restart, rescan, upgrade agents or collect their logs; slow ones report in notifications',
      access: 'agents.execute',
      body: StrictObject({
        ...ManyIds.properties,
        action: OneOf(['ping', 'restart', 'rescan', 'upgrade', 'collectLogs']),
        params: Type.Optional(
          Type.Object(
            {
              fileId: Type.Optional(Id),
              version: optional.string({
                pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}$',
                description: 'Takes the stored file `rushhour-agent-VERSION.tgz`, which must be signed',
              }),
            },
            { ...strict, description: '`upgrade` needs one of them and the permission agents.upgrade' },
          ),
        ),
        force: force('Restart or upgrade agents that are busy, too'),
      }),
      reply: Data(
        Type.Object({
          operationId: Type.String({ description: 'Named by the notifications about it' }),
          results: Type.Array(
            Component('ActionItem', {
              ...item,
              rttMs: Type.Optional(Type.Number({ description: 'Round trip of a ping' })),
            }),
          ),
        }),
      ),
      errors: [404, 409],
    }),
  },
});
