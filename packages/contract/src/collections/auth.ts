import { Type } from 'typebox';
import { Data } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Timestamp } from '../scalars.ts';
import { writeOnlySecret } from '../secret.ts';
import { ExtendedUser } from './users.ts';

const Password = Type.String({ minLength: 1, maxLength: 1024, ...writeOnlySecret });

const Session = Data(
  Type.Object(
    {
      user: ExtendedUser,
      permissions: Type.Array(Type.Integer()),
      isRequiredToSetPassword: Type.Boolean(),
      accessExpiresAt: Timestamp,
      refreshExpiresAt: Timestamp,
    },
    { title: 'Session' },
  ),
);

export const auth = collection({
  tag: 'auth',
  title: 'Authentication',
  routes: {
    login: route({
      method: 'POST',
      path: '/auth/login',
      summary: 'Sign in; the tokens come as HttpOnly cookies',
      access: 'public',
      body: Type.Object(
        { email: Type.String({ minLength: 1, maxLength: 254 }), password: Password },
        { title: 'AuthBody', additionalProperties: false },
      ),
      reply: Session,
      errors: [401, 403],
    }),
    refresh: route({
      method: 'POST',
      path: '/auth/refresh',
      summary: 'Exchange the refresh token for a new pair',
      access: 'public',
      reply: Session,
      errors: [401, 403],
    }),
    logout: route({
      method: 'POST',
      path: '/auth/logout',
      summary: 'Sign out, here or everywhere',
      access: 'session',
      body: Type.Object({ everywhere: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
      bodyOptional: true,
      beforePassword: true,
    }),
    password: route({
      method: 'POST',
      path: '/auth/password',
      summary: 'Set your own password; your other sessions end',
      access: 'session',
      body: Type.Object({ currentPassword: Password, newPassword: Password }, { additionalProperties: false }),
      beforePassword: true,
    }),
  },
});
