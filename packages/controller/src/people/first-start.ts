import { initialGroups } from '@rushhour/contract';
import { groups } from '../store/people/groups.ts';
import { countUsers, normalEmail, users } from '../store/people/users.ts';
import type { Store } from '../store/store.ts';
import { hashPassword, temporaryPassword } from './passwords.ts';

const generatedLength = 20;

/** Creates the first groups and the administrator. Returns the credentials if they were generated here. */
export const prepareFirstStart = async (store: Store, given: { email: string; password: string } | undefined) => {
  if ((await countUsers(store.read)) > 0) return undefined;
  const credentials = given ?? { email: 'admin@rushhour.local', password: temporaryPassword(generatedLength) };
  const passwordHash = await hashPassword(credentials.password);
  const origin = { userId: null, address: '', requestId: 'first-start', operation: 'firstStart' };
  const isMade = await store.change(origin, async (tx) => {
    // Another controller may have been faster.
    if ((await countUsers(tx)) > 0) return false;
    const ids: number[] = [];
    for (const { name, permissions } of initialGroups) {
      ids.push(await groups.insert(tx, { name, permissions: permissions.map((value) => ({ value })) }));
    }
    await users.insert(tx, {
      email: normalEmail(credentials.email),
      realName: 'Administrator',
      groupID: ids[0] as number,
      isActive: true,
      isRequiredToSetPassword: given === undefined,
      passwordHash,
      passwordLength: given === undefined ? generatedLength : 0,
      agreementAccepted: false,
      preferences: {},
    });
    return true;
  });
  return isMade && given === undefined ? credentials : undefined;
};
