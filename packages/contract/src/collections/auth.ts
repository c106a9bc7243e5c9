import { Type } from 'typebox';
import { Data } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Timestamp } from '../scalars.ts';
import { Component, optional, StrictComponent, StrictObject } from '../schema.ts';
import { writeOnlySecret } from '../secret.ts';
import { ExtendedUser } from './users.ts';

const Password = Type.String({ minLength: 1, maxLength: 1024, ...writeOnlySecret });

const Session = Data(
  Component('Session', {
    user: ExtendedUser,
    permissions: Type.Array(Type.Integer()),
    isRequiredToSetPassword: Type.Boolean(),
    accessExpiresAt: Timestamp,
    refreshExpiresAt: Timestamp,
  }),
);

export const auth = collection({
  tag: 'auth',
  title: 'Authentication',
  routes: {
    login: route('POST /auth/login', {
      summary: 'Sign in; the tokens come as HttpOnly cookies',
      access: 'public',
      body: StrictComponent('AuthBody', { email: Type.String({ minLength: 1, maxLength: 254 }), password: Password }),
      reply: Session,
      errors: [401, 403],
    }),
    refresh: route('POST /auth/refresh', {
      summary: 'Exchange the refresh token for a new pair',
      access: 'public',
      reply: Session,
      errors: [401, 403],
    }),
    logout: route('POST /auth/logout', {
      summary: 'Sign out, here or everywhere',
      access: 'session',
      body: StrictObject({ everywhere: optional.flag() }),
      bodyOptional: true,
      beforePassword: true,
    }),
    password: route('POST /auth/password', {
      summary: 'Set your own password; your other sessions end',
      access: 'session',
      body: StrictObject({ currentPassword: Password, newPassword: Password }),
      beforePassword: true,
    }),
  },
});
