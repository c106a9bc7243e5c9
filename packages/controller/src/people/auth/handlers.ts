import type { api } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import type { Tokens, Visitor } from '../../caller.ts';
import { invalid, tooMany, unauthenticated } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { findByEmail, users } from '../../store/people/users.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { extendedUserOf } from '../extended-user.ts';
import { hashPassword, passwordIssues, verifyPassword } from '../passwords.ts';
import { endSessions, endSessionsOf, openSession, refreshSession } from '../sessions.ts';
import { countFailure, forgetFailures, reserveAttempt } from '../throttle.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  log: Pick<Logger, 'info' | 'warn'>;
}

const sessionReply = async ({ store }: Deps, userId: number, { accessExpiresAt, refreshExpiresAt }: Tokens) => {
  const user = await users.find(store.read, userId);
  if (user === undefined) throw wrongCredentials();
  const extended = await extendedUserOf(store.read, user);
  const { permissions, isRequiredToSetPassword } = extended;
  return { data: { user: extended, permissions, isRequiredToSetPassword, accessExpiresAt, refreshExpiresAt } };
};

/** Counts a wrong password. The first one that blocks the account notifies the administrators of users. */
const refuse = async (deps: Deps, visitor: Visitor, email: string, userId: number | undefined) => {
  const { store, settings, bus, log } = deps;
  log.warn({ email, address: visitor.address }, 'sign-in refused');
  const origin = { ...originOf(visitor), userId: userId ?? null };
  await store.change(origin, async (tx) => {
    tx.deny({ reason: 'wrong credentials' });
    const isLocked = await countFailure(tx, email, visitor.address, settings.current().auth.lockout);
    if (!isLocked || userId === undefined) return;
    const message = `Too many failed sign-ins for ${email} from ${visitor.address}.`;
    await notify(tx, bus, {
      severity: 'warning',
      kind: 'auth.locked',
      message,
      entity: { type: 'user', id: userId },
      audience: { permission: 'users.read' },
    });
  });
};

/** Runs the check of a password, unless the account or the address has to wait. Wrong ones are counted in `check`. */
const attempt = async <T>(deps: Deps, { address }: Visitor, email: string, check: () => Promise<T>): Promise<T> => {
  const { lockout } = deps.settings.current().auth;
  const { waitSec, release } = await reserveAttempt(deps.store.read, email, address, lockout);
  try {
    if (waitSec === 0) return await check();
    throw tooMany('TOO_MANY_ATTEMPTS', `too many failed attempts: try again in ${waitSec} s`, waitSec);
  } finally {
    release();
  }
};

/** The user with this password; counts a failure and refuses otherwise. */
const verifiedUser = (deps: Deps, visitor: Visitor, email: string, password: string) =>
  attempt(deps, visitor, email, async () => {
    const user = await findByEmail(deps.store.read, email);
    const isRight = await verifyPassword(password, user?.passwordHash);
    if (user !== undefined && isRight && user.isActive === 1) return user;
    await refuse(deps, visitor, email, user?.id);
    throw wrongCredentials();
  });

const refreshTokens =
  (deps: Deps): Handlers<typeof api.auth>['refresh'] =>
  async (_, visitor) => {
    const { store, settings, bus } = deps;
    const token = visitor.refreshToken;
    if (token === undefined) throw unauthenticated('UNAUTHENTICATED', 'there is no refresh token');
    const result = await store.change(originOf(visitor), async (tx) => {
      const refreshed = await refreshSession(tx, token, settings.current().auth, store.secrets);
      if (refreshed.outcome !== 'unknown') tx.touch('users', refreshed.userID);
      if (refreshed.outcome !== 'reused') return refreshed;
      await endSessions(tx, [refreshed.sessionID]);
      tx.deny({ reason: 'a retired refresh token was used again; the session was ended' });
      const message = 'A used refresh token was presented again. The session was ended; sign in anew.';
      await notify(tx, bus, {
        severity: 'warning',
        kind: 'auth.tokenReuse',
        message,
        audience: { userID: refreshed.userID },
      });
      return refreshed;
    });
    if (result.outcome !== 'rotated') {
      visitor.setSession(undefined);
      throw unauthenticated('SESSION_ENDED', 'the session has ended: sign in again');
    }
    visitor.setSession(result.tokens);
    return sessionReply(deps, result.userID, result.tokens);
  };

const changePassword =
  (deps: Deps): Handlers<typeof api.auth>['password'] =>
  async ({ body: { currentPassword, newPassword } }, caller) => {
    const { store, settings } = deps;
    const user = await users.find(store.read, caller.userId);
    if (user === undefined) throw wrongCredentials();
    await attempt(deps, caller, user.email, async () => {
      if (await verifyPassword(currentPassword, user.passwordHash)) return;
      await refuse(deps, caller, user.email, user.id);
      throw unauthenticated('WRONG_PASSWORD', 'the current password is wrong');
    });
    const issues = passwordIssues(newPassword, user, settings.current().auth.password);
    if (newPassword === currentPassword) {
      issues.push({ path: '/newPassword', code: 'UNCHANGED', message: 'must differ from the current password' });
    }
    if (issues.length > 0) throw invalid(issues, 'WEAK_PASSWORD');
    const passwordHash = await hashPassword(newPassword);
    await store.change(caller, async (tx) => {
      await forgetFailures(tx, user.email);
      await users.update(tx, user.id, { passwordHash, passwordLength: 0, isRequiredToSetPassword: false });
      await endSessionsOf(tx, [user.id], caller.sessionId);
    });
  };

export const authHandlers = (deps: Deps): Handlers<typeof api.auth> => {
  const { store, settings } = deps;

  return {
    login: async ({ body: { email, password } }, visitor) => {
      const user = await verifiedUser(deps, visitor, email, password);
      const tokens = await store.change({ ...originOf(visitor), userId: user.id }, async (tx) => {
        await forgetFailures(tx, email);
        await users.update(tx, user.id, { lastLogin: tx.now, updatedAt: undefined });
        const client = visitor.header('user-agent')?.slice(0, 256) ?? '';
        return openSession(tx, user.id, { address: visitor.address, client }, settings.current().auth);
      });
      visitor.setSession(tokens);
      deps.log.info({ userID: user.id, address: visitor.address }, 'signed in');
      return sessionReply(deps, user.id, tokens);
    },

    refresh: refreshTokens(deps),

    logout: async ({ body }, caller) => {
      await store.change(caller, async (tx) => {
        if (body?.everywhere) await endSessionsOf(tx, [caller.userId]);
        else await endSessions(tx, [caller.sessionId]);
      });
      caller.setSession(undefined);
    },

    password: changePassword(deps),
  };
};

/** One text for an unknown address, a wrong password and a blocked account. */
const wrongCredentials = () => unauthenticated('WRONG_CREDENTIALS', 'wrong e-mail address or password');

const originOf = ({ address, requestId, operation }: Visitor) => ({ userId: null, address, requestId, operation });
