import { type Static, Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { Data, Ids, ListQuery, ManyIds, Page } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, Name, Tags, Timestamp } from '../../scalars.ts';
import { Component, Described } from '../../schema.ts';
import { secret } from '../../secret.ts';
import { Issuer } from '../users.ts';

const AgentToken = Component('AgentToken', {
  id: Id,
  name: Type.String(),
  usesLeft: Type.Integer(),
  expiresAt: Timestamp,
  tags: Type.String({ description: 'Agents that enrol with it get these' }),
  issuer: Issuer,
  createdAt: Timestamp,
});

const NewAgentToken = Type.Object({
  name: Described(Name, 'What it is for; need not be unique'),
  ttlSec: Type.Integer({ minimum: 60, maximum: 604_800, description: 'Seconds until it expires' }),
  maxUses: Type.Integer({ minimum: 1, maximum: 100, description: 'Agents that may enrol with it' }),
  tags: Type.Optional(Tags),
});
export type NewAgentToken = Static<typeof NewAgentToken>;
/** One-time tokens that let agents enrol. */
export const agentTokenRoutes = {
  tokens: route('GET /agents/tokens', {
    summary: 'List enrolment tokens; their secrets are never shown again',
    access: 'agents.enrol',
    query: ListQuery(['id', 'name', 'usesLeft', 'expiresAt', 'createdAt'], {}),
    reply: Page(AgentToken),
  }),
  createToken: route('POST /agents/tokens', {
    summary: 'Make an enrolment token and the command that enrols an agent with it',
    access: 'agents.enrol',
    body: createBody(NewAgentToken, AgentToken),
    reply: Data(
      Type.Object({
        id: Id,
        token: Type.String({ ...secret, description: 'Shown only now' }),
        controllerUrl: Type.String(),
        fingerprint: Type.String({ description: 'SHA-256 of the TLS certificate in hex; empty without TLS' }),
        command: Type.String({
          description: 'Installs and enrols an agent; to be run on its machine, which needs a shell, curl and tar',
        }),
        warning: Type.String({
          description: 'Why other machines cannot reach the controller, and what to do; empty if nothing is known',
        }),
      }),
    ),
  }),
  removeTokens: route('DELETE /agents/tokens', {
    summary: 'Revoke enrolment tokens, all or none; agents that enrolled with them stay',
    access: 'agents.enrol',
    body: ManyIds,
    reply: Ids,
    errors: [404],
  }),
};
