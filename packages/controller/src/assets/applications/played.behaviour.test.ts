import { afterAll, beforeAll, expect, it } from 'vitest';
import { mappingOf, type Shop, startShop, userParameter } from './testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.controller.close());

/** Issues of a task that plays the application, without those about agents. */
const issuesOf = async (played: object): Promise<string[]> => {
  const values = {
    sources: [{ agent: { id: 1 } }],
    targets: [{ agent: { id: 2 } }],
    applicationParams: { applications: [played] },
  };
  const body = { comment: 'play', configuration: [{ plugin: { id: 10 }, values }] };
  const { data } = await shop.client.tasks.validate({ body: body as never, query: {} });
  return data.issues
    .filter(({ path }) => path.includes('/applicationParams/applications'))
    .map(({ code, message }) => `${code}: ${message}`);
};

it('a task is planned with rows of a dictionary that is a file', async () => {
  const { client, create, upload } = shop;
  const fileID = await upload('logins.csv', Buffer.from('login,age\nanna,30\nbartholomew,31\n'), 'other');
  const config = { $source: { fileID, header: true, delimiter: ',' }, $selection: { onEnd: 'stop' } };
  const draft = { name: 'logins', type: 'file', columns: ['login', 'age'], config };
  const { data: dictionaryId } = await client.dictionaries.create({ body: draft as never });
  const parameter = userParameter(mappingOf(0, 'anna'));
  const applicationId = await create('fed', {
    parameters: [{ ...parameter, source: 'dictionary', defaultValue: `dict/${dictionaryId}/login` }],
  });
  expect(await issuesOf({ applicationId, users: 2, iterations: 1 })).toEqual([]);
  expect(await issuesOf({ applicationId, users: 3, iterations: 2 })).toEqual([
    'DICTIONARY_TOO_SHORT: parameter user: "logins" has 2 rows; 6 are drawn, each once',
  ]);
  const column = { name: 'user', dictionaryId, column: 'height' };
  expect(await issuesOf({ applicationId, parameters: [column] })).toEqual([
    'COLUMN_UNKNOWN: parameter user: "logins" has no column height',
  ]);
});

it('a task is planned with the sessions and parameters that are stored', async () => {
  const applicationId = await shop.create('plain', { parameters: [userParameter(mappingOf(0, 'anna'))] });
  expect(await issuesOf({ applicationId, parameters: [{ name: 'user', value: 'cy' }] })).toEqual([]);
  expect(await issuesOf({ applicationId, parameters: [{ name: 'nobody', value: 'cy' }] })).toEqual([
    'PARAMETER_UNKNOWN: "plain" has no parameter nobody',
  ]);
  const sessions = [0, 1, 2].map((sessionIndex) => ({ sessionIndex, enabled: false }));
  expect(await issuesOf({ applicationId, sessions })).toEqual(['NO_SESSIONS: no session of "plain" is to be played']);
});
