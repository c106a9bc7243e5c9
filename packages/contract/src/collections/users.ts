import { type Static, Type } from 'typebox';
import { createBody, patchBody } from '../bodies.ts';
import { crudRoutes } from '../crud.ts';
import { Data, IdParams, ManyIds, OffsetQuery } from '../envelopes.ts';
import { permissions } from '../permissions.ts';
import { collection, route } from '../route.ts';
import { Email, Id, NullableInteger, NullableTimestamp, Timestamp } from '../scalars.ts';
import { Component, OneOf, optional, StrictComponent } from '../schema.ts';
import { secret } from '../secret.ts';

export const GroupPermission = StrictComponent('GroupPermission', {
  value: Type.Integer({ minimum: 1, maximum: 100_000, description: 'An integer of the permissions map' }),
});

/** The members of a user that other records show. */
export const LightUser = Component('LightUser', { id: Id, email: Type.String(), realName: Type.String() });
export type LightUser = Static<typeof LightUser>;

/** The user who created a record; null for built-in records. A type list, see `Nullable`. */
export const Issuer = Type.Unsafe<LightUser | null>({ ...LightUser, type: ['object', 'null'], title: 'Issuer' });

/** Author and times of a record. */
export const authored = { issuerID: NullableInteger, issuer: Issuer, createdAt: Timestamp, updatedAt: Timestamp };

export const UserDraft = Type.Object({
  email: Email,
  realName: Type.String({ minLength: 1, maxLength: 128 }),
  groupID: Id,
  isActive: optional.flag('false blocks the user and ends their sessions'),
  passwordLength: Type.Optional(
    Type.Unsafe<number>({
      anyOf: [{ const: 0 }, { type: 'integer', minimum: 12, maximum: 64 }],
      description: 'Length of the generated temporary password; 0 once the user has set their own',
    }),
  ),
});
export type UserDraft = Static<typeof UserDraft>;

const LightGroup = Component('LightGroup', { id: Id, name: Type.String(), permissions: Type.Array(GroupPermission) });

const userMembers = {
  id: Id,
  email: Type.String(),
  realName: Type.String(),
  groupID: Id,
  group: LightGroup,
  isActive: Type.Boolean(),
  isRequiredToSetPassword: Type.Boolean(),
  passwordLength: Type.Integer(),
  lastLogin: NullableTimestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deletedAt: NullableTimestamp,
};

export const User = Component('User', userMembers);
export type User = Static<typeof User>;

export const AccessToken = Component('AccessToken', {
  id: Id,
  name: Type.String({ description: 'What the token is for' }),
  prefix: Type.String({ description: 'Its first characters, to recognize it by' }),
  scopes: Type.Array(Type.String(), { description: 'Permissions it is limited to; empty: all that the user holds' }),
  expiresAt: Timestamp,
  createdAt: Timestamp,
});
export type AccessToken = Static<typeof AccessToken>;

export const UserSession = Component('UserSession', {
  id: Id,
  address: Type.String({ description: 'Where the user signed in from' }),
  client: Type.String({ description: 'The User-Agent of the sign-in; empty if none was given' }),
  isCurrent: Type.Boolean({ description: 'Whether this request belongs to it' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type UserSession = Static<typeof UserSession>;

const NewAccessToken = StrictComponent('NewAccessToken', {
  name: Type.String({ minLength: 1, maxLength: 128, description: 'What the token is for' }),
  scopes: optional.array(OneOf(Object.keys(permissions)), {
    maxItems: 200,
    uniqueItems: true,
    description: 'Permissions it is limited to; all that you hold when left out. It never has more than you',
  }),
  ttlDays: optional.integer([1, 366], 'Days until it expires', 90),
});

export const ExtendedUser = Component('ExtendedUser', {
  ...userMembers,
  agreementAccepted: Type.Boolean(),
  notificationsReadAt: NullableTimestamp,
  permissions: Type.Array(Type.Integer(), { description: 'Integers of the permissions the user holds' }),
  unreadNotifications: Type.Integer(),
  preferences: Type.Record(Type.String(), Type.Unknown(), { description: 'Settings of the web interface' }),
  accessTokens: Type.Array(AccessToken, { description: 'Your access tokens that have not expired' }),
  sessions: Type.Array(UserSession, { description: 'Where you are signed in, newest first' }),
});
export type ExtendedUser = Static<typeof ExtendedUser>;

export const NewCredentials = Component('NewCredentials', {
  email: Type.String(),
  password: Type.String({ ...secret, description: 'Temporary; shown only now' }),
});

const OwnDraft = Type.Object({
  realName: Type.Optional(UserDraft.properties.realName),
  agreementAccepted: optional.flag('true accepts the agreement; false changes nothing'),
  preferences: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 200 })),
  createToken: optional.described(NewAccessToken, 'Makes an access token, which the reply shows once'),
  revokeTokens: optional.array(Id, { maxItems: 100, uniqueItems: true, description: 'Ids of your access tokens' }),
  endSessions: optional.array(Id, { maxItems: 100, uniqueItems: true, description: 'Ids of sessions to sign out' }),
});

export const users = collection({
  tag: 'users',
  title: 'Users',
  routes: {
    ...crudRoutes({
      path: '/users',
      noun: 'user',
      item: User,
      draft: UserDraft,
      query: Type.Object({
        ...OffsetQuery.properties,
        search: optional.text(200, 'Part of the e-mail address or name'),
        groupID: Type.Optional(Id),
        isActive: optional.flag(),
      }),
      permissions: 'users',
    }),
    create: route('POST /users', {
      summary: 'Create a user with a temporary password',
      access: 'users.write',
      body: createBody(UserDraft, ExtendedUser),
      reply: NewCredentials,
      errors: [409],
    }),
    update: route('PATCH /users', {
      summary: 'Update a user',
      access: 'users.write',
      body: patchBody(UserDraft, ExtendedUser),
      errors: [404, 409],
    }),
    get: route('GET /users/:id', {
      summary: 'Get a user',
      access: 'users.read',
      params: IdParams,
      reply: User,
      errors: [404],
    }),
    remove: route('DELETE /users/:id', {
      summary: 'Delete a user',
      access: 'users.write',
      params: IdParams,
      errors: [404, 409],
    }),
    block: route('PATCH /users/block', {
      summary: 'Block users and end their sessions',
      access: 'users.block',
      body: ManyIds,
      errors: [404, 409],
    }),
    unblock: route('PATCH /users/unblock', {
      summary: 'Unblock users',
      access: 'users.block',
      body: ManyIds,
      errors: [404],
    }),
    resetPassword: route('PATCH /users/password/:id', {
      summary: 'Give a user a new temporary password',
      access: 'users.password',
      params: IdParams,
      reply: NewCredentials,
      errors: [404, 409],
    }),
    me: route('GET /users/me', {
      summary: 'Your own extended record',
      access: 'session',
      reply: Data(ExtendedUser),
      beforePassword: true,
    }),
    updateMe: route('PATCH /users/me', {
      summary:
        'Change your own name, accept the agreement, keep preferences, create and revoke access tokens, sign out sessions',
      access: 'session',
      body: createBody(OwnDraft, ExtendedUser),
      reply: Data(
        Type.Object({
          token: optional.string({ ...secret, description: 'The access token of `createToken`; shown only now' }),
          tokenID: Type.Optional(Id),
        }),
      ),
      beforeAgreement: true,
      errors: [404, 409],
    }),
  },
});
