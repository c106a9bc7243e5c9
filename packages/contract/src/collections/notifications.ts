import { type Static, Type } from 'typebox';
import { Data, Page } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';
import { Component, OneOf, optional, StrictObject } from '../schema.ts';

const severities = ['info', 'warning', 'error'] as const;
const eventTypes = ['notification', 'task.status', 'agent.status', 'resync'] as const;

export const Notification = Component('Notification', {
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
  deliveries: optional.array(
    Type.Object({
      channel: OneOf(['webhook', 'mail']),
      target: Type.String(),
      state: OneOf(['pending', 'delivered', 'failed']),
      attempts: Type.Integer(),
      nextAt: Type.Union([Timestamp, Type.Null()], { description: 'When a pending one is tried next' }),
      error: Type.String({ description: 'Of the last attempt; empty when it succeeded' }),
    }),
    { description: 'Webhooks and mails about it; only with `deliveries` and the permission to read settings' },
  ),
});
export type Notification = Static<typeof Notification>;

export const notifications = collection({
  tag: 'notifications',
  title: 'Notifications',
  routes: {
    list: route('GET /notifications', {
      summary: 'Your notifications; the header X-Unread-Count tells how many are unread',
      access: 'session',
      headers: { reply: { 'X-Unread-Count': 'Number of unread notifications' } },
      query: Type.Object({
        count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
        page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
        order: optional.oneOf(['asc', 'desc'], { default: 'desc' }),
        severity: optional.oneOf(severities),
        unread: optional.flag('true: only unread ones'),
        deliveries: optional.flag('true: with webhooks and mails; needs the permission to read settings'),
      }),
      reply: Page(Notification),
    }),
    read: route('PATCH /notifications/read', {
      summary: 'Mark everything up to a time as read; the mark never moves back',
      access: 'session',
      body: StrictObject({ at: Type.Optional(Timestamp) }),
      bodyOptional: true,
      reply: Data(Type.Object({ notificationsReadAt: Timestamp, unread: Type.Integer() })),
    }),
    stream: route('GET /notifications/stream', {
      summary: 'Notifications, task and agent states as they happen; Last-Event-ID resumes',
      access: 'session',
      query: Type.Object({
        types: optional.string({ maxLength: 200, pattern: `^(${eventTypes.join('|')})(,(${eventTypes.join('|')}))*$` }),
      }),
      events: Type.Object({
        id: Type.Optional(Type.String()),
        event: OneOf(eventTypes),
        data: Type.Unknown(),
      }),
    }),
  },
});
