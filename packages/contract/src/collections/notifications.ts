import { type Static, Type } from 'typebox';
import { Data, OneOf, Page } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';

const severities = ['info', 'warning', 'error'] as const;
const eventTypes = ['notification', 'task.status', 'agent.status', 'resync'] as const;

export const Notification = Type.Object(
  {
    id: Id,
    severity: OneOf(severities),
    kind: Type.String({ description: 'What happened, e.g. `settings.changed`' }),
    message: Type.String(),
    entity: Type.Union([
      Type.Object({ type: Type.String(), id: Type.Integer() }, { description: 'The record it is about' }),
      Type.Null(),
    ]),
    createdAt: Timestamp,
    read: Type.Boolean(),
  },
  { title: 'Notification' },
);
export type Notification = Static<typeof Notification>;

export const notifications = collection({
  tag: 'notifications',
  title: 'Notifications',
  routes: {
    list: route({
      method: 'GET',
      path: '/notifications',
      summary: 'Your notifications; the header X-Unread-Count tells how many are unread',
      access: 'session',
      query: Type.Object({
        count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
        order: Type.Optional(OneOf(['asc', 'desc'], { default: 'desc' })),
        severity: Type.Optional(OneOf(severities)),
        unread: Type.Optional(Type.Boolean({ description: 'true: only unread ones' })),
      }),
      reply: Page(Notification),
    }),
    read: route({
      method: 'PATCH',
      path: '/notifications/read',
      summary: 'Mark everything up to a time as read; the mark never moves back',
      access: 'session',
      body: Type.Object({ at: Type.Optional(Timestamp) }, { additionalProperties: false }),
      bodyOptional: true,
      reply: Data(Type.Object({ notificationsReadAt: Timestamp, unread: Type.Integer() })),
    }),
    stream: route({
      method: 'GET',
      path: '/notifications/stream',
      summary: 'Notifications, task and agent states as they happen; Last-Event-ID resumes',
      access: 'session',
      query: Type.Object({
        types: Type.Optional(
          Type.String({ maxLength: 200, pattern: `^(${eventTypes.join('|')})(,(${eventTypes.join('|')}))*$` }),
        ),
      }),
      events: Type.Object({
        id: Type.Optional(Type.String()),
        event: OneOf(eventTypes),
        data: Type.Unknown(),
      }),
    }),
  },
});
