import { type Static, type TObject, Type } from 'typebox';
import { patchBody } from '../bodies.ts';
import { crudRoutes } from '../crud.ts';
import { BulkResult, IdParams, Ids, ListQuery, ManyIds } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Description, Id, Name, NullableInteger, NullableTimestamp, Timestamp } from '../scalars.ts';
import { Component, optional, StrictObject } from '../schema.ts';
import { Issuer } from './users.ts';

export const ProjectDraft = Type.Object({ name: Name, description: Type.Optional(Description) });

export const Project = Component('Project', {
  ID: Id,
  name: Type.String(),
  description: Type.String(),
  issuerID: NullableInteger,
  issuer: Issuer,
  taskCount: Type.Integer(),
  activeTaskCount: Type.Integer({ description: 'Tasks queued, preparing, running, paused or stopping' }),
  errorTaskCount: Type.Integer({ description: 'Tasks whose last run failed' }),
  lastActivityAt: Timestamp,
  archivedAt: NullableTimestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Project = Static<typeof Project>;

const keys = ['ID', 'name', 'createdAt', 'updatedAt', 'lastActivityAt', 'taskCount'] as const;

export const projects = collection({
  tag: 'projects',
  title: 'Projects',
  routes: {
    ...crudRoutes({
      path: '/projects',
      noun: 'project',
      item: Project,
      draft: ProjectDraft,
      query: ListQuery(keys, { archived: optional.oneOf(['no', 'only', 'all'], { default: 'no' }) }),
      permissions: 'projects',
    }),
    update: route('PATCH /projects', {
      summary: 'Update a project; its id is `ID`, and `id` is accepted too',
      access: 'projects.write',
      body: projectPatch(),
      errors: [404, 409],
    }),
    removeMany: route('DELETE /projects', {
      summary: 'Delete projects; their tasks are detached or deleted',
      access: 'projects.write',
      body: StrictObject({ ...ManyIds.properties, tasks: optional.oneOf(['detach', 'delete'], { default: 'detach' }) }),
      reply: Ids,
      errors: [404, 409],
    }),
    get: route('GET /projects/:id', {
      summary: 'Get a project with its task counters',
      access: 'projects.read',
      params: IdParams,
      reply: Project,
      errors: [404],
    }),
    archive: route('PATCH /projects/archive', {
      summary: 'Archive projects; schedules of their tasks stop',
      access: 'projects.write',
      body: ManyIds,
      reply: BulkResult,
      errors: [404, 409],
    }),
    unarchive: route('PATCH /projects/unarchive', {
      summary: 'Bring archived projects back',
      access: 'projects.write',
      body: ManyIds,
      reply: BulkResult,
      errors: [404],
    }),
  },
});

function projectPatch() {
  const patch = patchBody(ProjectDraft, Project, 'ID');
  const { properties } = patch as unknown as TObject;
  return Type.Unsafe<Omit<Static<typeof patch>, 'id'> & { ID?: number; id?: number }>({
    ...patch,
    properties: { ...properties, id: Id },
    required: [],
    anyOf: [{ required: ['ID'] }, { required: ['id'] }],
  });
}
