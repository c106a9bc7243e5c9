import { expect, it } from 'vitest';
import { api, toOpenApi } from './index.ts';

it('the OpenAPI document equals the snapshot in openapi.json', async () => {
  const document = `${JSON.stringify(toOpenApi(api, 'test'), null, 1)}\n`;
  await expect(document).toMatchFileSnapshot('../openapi.json');
});

it('irregular member names are kept exactly', () => {
  const { schemas } = toOpenApi(api, 'test').components as { schemas: Record<string, { properties: object }> };
  const membersOf = (name: string) => Object.keys(schemas[name]?.properties ?? {});
  expect(membersOf('Project')).toEqual(
    expect.arrayContaining([
      'ID',
      'name',
      'description',
      'issuerID',
      'issuer',
      'taskCount',
      'activeTaskCount',
      'errorTaskCount',
      'lastActivityAt',
      'archivedAt',
      'createdAt',
      'updatedAt',
    ]),
  );
  expect(membersOf('User')).toEqual(
    expect.arrayContaining([
      'id',
      'email',
      'realName',
      'groupID',
      'group',
      'isActive',
      'isRequiredToSetPassword',
      'passwordLength',
      'lastLogin',
      'createdAt',
      'updatedAt',
      'deletedAt',
    ]),
  );
  expect(membersOf('ExtendedUser')).toEqual(expect.arrayContaining(['agreementAccepted', 'notificationsReadAt']));
  expect(membersOf('Group')).toEqual(
    expect.arrayContaining([
      'id',
      'name',
      'issuerID',
      'issuer',
      'permissions',
      'users',
      'createdAt',
      'updatedAt',
      'deletedAt',
    ]),
  );
  expect(membersOf('Cursor')).toEqual(['count', 'currentPage', 'totalPages', 'totalRows']);
  expect(membersOf('NewCredentials')).toEqual(['email', 'password']);
  expect(membersOf('ManyIDs')).toEqual(['array']);
});
