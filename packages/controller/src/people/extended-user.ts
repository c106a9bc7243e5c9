import type { ExtendedUser, User } from '@rushhour/contract';
import type { Executor } from '../store/engine/database.ts';
import type { StoredUser } from '../store/people/users.ts';
import { audiencesOf, countUnread } from '../store/system/notifications.ts';
import { accessTokensOf } from './access-tokens.ts';
import { effective } from './permissions.ts';
import { sessionsOf } from './sessions.ts';

/** The public record of a user. */
export const userOf = (user: StoredUser): User => {
  const { groupName, groupPermissions, ...rest } = user;
  return { ...rest, group: { id: user.groupID, name: groupName, permissions: JSON.parse(groupPermissions) } };
};

/** The record users see of themselves. */
export const extendedUserOf = async (read: Executor, user: StoredUser, sessionID?: number): Promise<ExtendedUser> => {
  const shown = userOf(user);
  const permissions = effective(new Set(shown.group.permissions.map(({ value }) => value)));
  return {
    ...shown,
    agreementAccepted: user.agreementAccepted,
    notificationsReadAt: user.notificationsReadAt,
    preferences: user.preferences,
    permissions,
    accessTokens: await accessTokensOf(read, user.id),
    sessions: await sessionsOf(read, user.id, sessionID),
    unreadNotifications: await countUnread(read, audiencesOf(user.id, permissions), user.notificationsReadAt),
  };
};
