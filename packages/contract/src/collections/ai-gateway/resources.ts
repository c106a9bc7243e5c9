import { Type } from 'typebox';
import { IdParams, ListQuery } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id } from '../../scalars.ts';
import { OneOf, optional } from '../../schema.ts';
import { AiOne, AiPage, aiOperation, FreeObject, path, view } from './operation.ts';

const prefix = '/ai/gateway';

export const resourceKinds = [
  'network',
  'application',
  'file',
  'certificate',
  'tunnel',
  'mac',
  'dictionary',
  'template',
  'project',
  'cve',
  'malware',
  'campaign',
] as const;
export type ResourceKind = (typeof resourceKinds)[number];

const q = { q: optional.text(200, 'Part of a name') };
const paging = Type.Omit(ListQuery(['id', 'name', 'updatedAt'], {}), ['search']).properties;

/** Routes to read agents and the records tasks use. */
export const aiResourceRoutes = {
  agents: route(`GET ${prefix}/agents`, {
    summary: 'List agents',
    access: 'aiKey',
    ai: aiOperation('agents_list', 'agents:read', 'read'),
    query: Type.Object({
      ...Type.Omit(ListQuery(['id', 'name', 'status', 'lastSeenAt'], {}), ['search']).properties,
      ...q,
      status: optional.integer([0, 7], 'See capabilities'),
      free: optional.flag('Online, not reserved and without work'),
    }),
    reply: AiPage(FreeObject),
  }),
  agent: route(`GET ${prefix}/agents/:id`, {
    summary: 'Get an agent with its interfaces, capabilities and health',
    access: 'aiKey',
    ai: aiOperation('agent_get', 'agents:read', 'read'),
    params: IdParams,
    query: Type.Object(view),
    reply: AiOne(FreeObject),
    errors: [404],
  }),
  resources: route(`GET ${prefix}/resources`, {
    summary: 'Search the records that tasks use',
    access: 'aiKey',
    ai: aiOperation('resources_search', 'resources:read', 'read'),
    query: Type.Object({
      ...paging,
      ...q,
      kind: OneOf(resourceKinds),
      tags: optional.text(200, 'One tag'),
    }),
    reply: AiPage(FreeObject),
  }),
  resource: route(`GET ${prefix}/resources/:kind/:id`, {
    summary: 'Get one record; of files the metadata and hashes',
    access: 'aiKey',
    ai: aiOperation('resource_get', 'resources:read', 'read'),
    params: Type.Object({ kind: OneOf(resourceKinds), id: Id }),
    query: Type.Object({ ...view, ...path }),
    reply: AiOne(Type.Unknown()),
    errors: [404],
  }),
};
